use svc::prelude::*;

use super::{Customer, Variant};

/// An order of a customer.
#[svc_type(sql_source = "v_order")]
#[derive(Debug)]
pub struct Order {
    /// Never reused.
    pub id: Uuid,
    /// The state of the order.
    pub status: OrderStatus,
    /// The sum of its lines.
    pub total: Decimal,
    /// The time of ordering.
    pub created_at: DateTime<Utc>,
    /// The customer.
    #[relation]
    pub customer: One<Customer>,
    /// The goods, by variant.
    #[relation]
    pub lines: Many<OrderLine>,
}

/// The state of an order.
#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderStatus {
    /// It is placed.
    #[svc(stored = "placed")]
    Placed,
    /// It is on its way.
    #[svc(stored = "shipped")]
    Shipped,
    /// It is called off, and its stock is back.
    #[svc(stored = "cancelled")]
    Cancelled,
}

/// A number of one variant in an order, at the price of that day.
#[svc_type(sql_source = "v_order_line")]
#[derive(Debug)]
pub struct OrderLine {
    /// Never reused.
    pub id: Uuid,
    /// The number of pieces.
    pub quantity: i32,
    /// The price of one when it was ordered.
    pub price: Decimal,
    /// The variant.
    #[relation]
    pub variant: One<Variant>,
    /// The order.
    #[relation]
    pub order: One<Order>,
}
