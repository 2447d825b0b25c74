use svc::prelude::*;

use super::Order;

/// A person who orders.
#[svc_type(sql_source = "v_customer")]
#[derive(Debug)]
pub struct Customer {
    /// The unique identifier.
    pub id: Uuid,
    /// The displayed name.
    pub name: String,
    /// The email address.
    pub email: String,
    /// The time at which the customer joined.
    pub created_at: DateTime<Utc>,
    /// The customer's orders.
    #[relation]
    pub orders: Many<Order>,
}
