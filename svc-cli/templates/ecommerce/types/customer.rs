use svc::prelude::*;

use super::Order;

/// A person who orders.
#[svc_type(sql_source = "v_customer")]
#[derive(Debug)]
pub struct Customer {
    /// Never reused.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// The address to write to.
    pub email: String,
    /// The time at which the customer joined.
    pub created_at: DateTime<Utc>,
    /// The orders of the customer.
    #[relation]
    pub orders: Many<Order>,
}
