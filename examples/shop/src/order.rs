//! Orders, which take stock.

use svc::prelude::*;

use crate::carrier::Carrier;
use crate::customer::Customer;
use crate::product::Product;

/// The products that a customer has bought at once.
#[svc_type(sql_source = "v_order")]
#[derive(Debug)]
pub struct Order {
    /// Never reused.
    pub id: Uuid,
    /// The number that people say, in order.
    pub number: i32,
    /// Its state.
    pub status: OrderStatus,
    /// The time of buying.
    pub placed_at: DateTime<Utc>,
    /// The price of all.
    pub total: Decimal,
    /// The number of pieces.
    pub pieces: i32,
    /// The customer who has bought it.
    #[relation]
    pub customer: One<Customer>,
    /// The products with their numbers.
    #[relation(order_by = "product.name")]
    pub lines: Many<OrderLine>,
}

#[svc_type]
impl Order {
    /// The code for tracking the parcel; null until it is on its way.
    #[svc(batch, cost = 2)]
    async fn tracking_code(orders: &[&Self], ctx: &Context<'_>) -> Result<Vec<Option<String>>> {
        let shipped: Vec<i32> = orders
            .iter()
            .filter(|order| order.status == OrderStatus::Shipped)
            .map(|order| order.number)
            .collect();

        let codes = ctx.data::<Carrier>()?.codes(&shipped).await?;
        let code = |order: &&Self| codes.get(&order.number).cloned();

        Ok(orders.iter().map(code).collect())
    }
}

/// The state of an order.
#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderStatus {
    /// It waits for a parcel.
    #[svc(stored = "placed")]
    Placed,
    /// It is on its way.
    #[svc(stored = "shipped")]
    Shipped,
    /// Nothing comes of it.
    #[svc(stored = "cancelled")]
    Cancelled,
}

/// Pieces of one product.
#[svc_type(sql_source = "v_order_line")]
#[derive(Debug)]
pub struct OrderLine {
    /// Never reused.
    pub id: Uuid,
    /// The number of pieces.
    pub quantity: i32,
    /// The price of a piece, as it was.
    pub price: Decimal,
    /// The price of all.
    pub total: Decimal,
    /// The product; null for customers where it is not for sale any more.
    #[relation]
    pub product: Option<One<Product>>,
    /// The order.
    #[relation]
    pub order: One<Order>,
}

/// Pieces to buy.
#[svc_input]
#[derive(Debug)]
pub struct NewLine {
    /// The product.
    pub product_id: Uuid,
    /// The number of pieces.
    #[svc(range(1..=100))]
    pub quantity: i32,
}

/// The result of buying. Clients read on after it, for example the stock that is left.
#[svc_result(query)]
#[derive(Debug)]
pub enum PlaceOrderResult {
    /// The stock is taken.
    Success {
        /// The order.
        order: Order,
    },
    /// Nothing is bought.
    Error {
        /// The product that is sold out.
        product: Option<Product>,
        /// The pieces of it that were left.
        left: Option<i32>,
    },
}

/// The result of giving up an order.
#[svc_result]
#[derive(Debug)]
pub enum CancelOrderResult {
    /// The stock is back.
    Success {
        /// The order.
        order: Order,
    },
    /// Nothing has changed.
    Error,
}

/// Orders: one's own, or, for the staff, all of the shop. The latest first.
#[svc::query(order_by = "-placed_at")]
pub async fn orders() -> Connection<Order>;

/// One order.
#[svc::query]
pub async fn order(id: Option<Uuid>, number: Option<i32>) -> Option<Order>;

/// The figures of what was sold.
#[svc::query]
#[svc::requires_any_role("clerk", "manager")]
pub async fn sales() -> Aggregate<OrderLine>;

/// Buys, in the name of the customer who asks.
#[svc::mutation(function = "app.place_order")]
#[svc::requires_role("customer")]
pub async fn place_order(#[svc(length(..=50))] lines: Vec<NewLine>) -> PlaceOrderResult;

/// Gives an order up that is not on its way.
#[svc::mutation(function = "app.cancel_order")]
#[svc::requires_auth]
pub async fn cancel_order(id: Uuid) -> CancelOrderResult;

/// Each order that is placed or changes: one's own, or, for the staff, all of the shop.
#[svc::subscription(channel = "order_changed")]
#[svc::requires_auth]
pub async fn order_changed(id: Option<Uuid>) -> Order;
