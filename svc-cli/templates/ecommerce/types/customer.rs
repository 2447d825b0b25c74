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
    /// The address of mail.
    pub email: String,
    /// The time of joining.
    pub created_at: DateTime<Utc>,
    /// The customer's orders.
    #[relation]
    pub orders: Many<Order>,
}
