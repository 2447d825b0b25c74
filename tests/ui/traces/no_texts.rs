use svc::prelude::*;
use svc::trace::trace_database_query;

/// A row of a table.
pub struct Order {
    pub price: i32,
}

/// The orders of a shop.
#[trace_database_query]
pub async fn orders() -> Result<Vec<Order>> {
    Ok(Vec::new())
}
