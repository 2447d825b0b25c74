//! Those who buy.

use svc::prelude::*;

use crate::order::Order;

/// A person who buys. Customers see themselves, and the staff sees all of the shop.
#[svc_type(sql_source = "v_customer")]
#[derive(Debug)]
pub struct Customer {
    /// Never reused; it is the `sub` of the customer's tokens.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// The address of mail: for the customer, and for managers. A mask hides it from clerks.
    pub email: Option<String>,
    /// The address of parcels.
    pub city: Option<String>,
    /// The latest first.
    #[relation(order_by = "-placed_at")]
    pub orders: Many<Order>,
}

/// The changes to a customer. What is left out stays, and a null clears.
#[svc_input]
#[derive(Debug)]
pub struct CustomerPatch {
    /// The new name.
    #[svc(not_null, length(1..=80))]
    pub name: Patch<String>,
    /// The new city.
    pub city: Patch<String>,
}

/// The customers of the shop.
#[svc::query(order_by = "name")]
#[svc::requires_any_role("clerk", "manager")]
pub async fn customers() -> Vec<Customer>;

/// The customer who asks; null for the staff and for guests.
#[svc::query]
pub async fn me(ctx: &Context<'_>) -> Result<FindOne<Customer>> {
    let ids = ctx.user().map(|user| user.user_id.clone());
    Ok(ctx.db().find_one::<Customer>().filter(col("id").is_in(ids)))
}

/// Changes a customer: oneself, or, for the staff, anybody.
#[svc::mutation(update = "tb_customer")]
#[svc::requires_auth]
pub async fn update_customer(id: Uuid, input: CustomerPatch) -> Customer;
