//! Reviews: opinions of customers about products.

use svc::prelude::*;

use crate::customer::Customer;
use crate::product::Product;

/// A customer's words on a product.
#[svc_type(sql_source = "v_review")]
#[derive(Debug)]
pub struct Review {
    /// Never reused.
    pub id: Uuid,
    /// From one to five.
    pub stars: i32,
    /// The text.
    pub body: String,
    /// The time of writing.
    pub written_at: DateTime<Utc>,
    /// The product.
    #[relation]
    pub product: Option<One<Product>>,
    /// The author; null for all others but the staff.
    #[relation]
    pub customer: Option<One<Customer>>,
}

/// A review to write.
#[svc_input]
#[derive(Debug)]
pub struct NewReview {
    /// The product.
    pub product_id: Uuid,
    /// From one to five.
    #[svc(range(1..=5))]
    pub stars: i32,
    /// The text.
    #[svc(length(1..=2000))]
    pub body: String,
}

/// Writes a review in the name of the customer who asks: the table takes it from the request.
#[svc::mutation(insert = "tb_review")]
#[svc::requires_role("customer")]
pub async fn create_review(input: NewReview) -> Review;

/// Removes a review: one's own, or, for the staff, any.
#[svc::mutation(delete = "tb_review")]
#[svc::requires_auth]
pub async fn delete_review(id: Uuid) -> Review;
