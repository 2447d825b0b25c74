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
    /// Where to write to.
    pub email: String,
    /// When the customer joined.
    pub created_at: DateTime<Utc>,
    /// What the customer has ordered.
    #[relation]
    pub orders: Many<Order>,
}
