use svc::prelude::*;

use super::{Customer, Variant};

/// An order of a customer.
#[svc_type(sql_source = "v_order")]
#[derive(Debug)]
pub struct Order {
    /// The unique identifier.
    pub id: Uuid,
    /// The state of the order.
    pub status: OrderStatus,
    /// The sum of the lines.
    pub total: Decimal,
    /// The time at which the order was placed.
    pub created_at: DateTime<Utc>,
    /// The customer.
    #[relation]
    pub customer: One<Customer>,
    /// The ordered variants.
    #[relation]
    pub lines: Many<OrderLine>,
}

/// The state of an order.
#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderStatus {
    /// The order was placed.
    #[svc(stored = "placed")]
    Placed,
    /// The order was shipped.
    #[svc(stored = "shipped")]
    Shipped,
    /// The order was cancelled, and its stock is available again.
    #[svc(stored = "cancelled")]
    Cancelled,
}

/// A quantity of one variant in an order, at the price when it was ordered.
#[svc_type(sql_source = "v_order_line")]
#[derive(Debug)]
pub struct OrderLine {
    /// The unique identifier.
    pub id: Uuid,
    /// The quantity.
    pub quantity: i32,
    /// The unit price when the order was placed.
    pub price: Decimal,
    /// The variant.
    #[relation]
    pub variant: One<Variant>,
    /// The order.
    #[relation]
    pub order: One<Order>,
}
