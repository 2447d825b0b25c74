//! Products and their categories.

use svc::prelude::*;
use svc::scalar::SearchVector;

use crate::category::Category;
use crate::review::Review;

/// A thing for sale.
#[svc_type(sql_source = "v_product")]
#[derive(Debug)]
pub struct Product {
    /// Never reused.
    pub id: Uuid,
    /// The number on the shelf, which no other product of the shop has.
    pub sku: String,
    /// The name as shown.
    pub name: String,
    /// More of it.
    pub description: String,
    /// The price of a piece.
    pub price: Decimal,
    /// The price that the shop itself has paid.
    #[svc::requires_role("manager")]
    pub cost: Option<Decimal>,
    /// The pieces that are left.
    pub stock: i32,
    /// Whether it is for sale. The staff alone sees what is not.
    pub published: bool,
    /// The time at which it was added.
    pub created_at: DateTime<Utc>,
    /// The words, for filters and orders.
    pub search: SearchVector,
    /// The average of the stars.
    pub rating: Option<Decimal>,
    /// The number of reviews.
    pub review_count: i32,
    /// The categories in which it is found, in the order that the staff has given them.
    #[relation(
        through = Placing,
        here = "product_id",
        there = "category_id",
        order_by = "edge.position",
        connection
    )]
    pub categories: Many<Category>,
    /// The latest first.
    #[relation(order_by = "-written_at")]
    pub reviews: Many<Review>,
}

/// The place of a product in a category, and of the category among those of the product.
#[svc_type(sql_source = "v_product_category")]
#[derive(Debug)]
pub struct Placing {
    /// The place of the category among those of the product.
    pub position: i32,
    /// The time at which the product came into it.
    pub added_at: DateTime<Utc>,
}

#[svc_type]
impl Product {
    /// Whether a piece can be had.
    fn is_available(&self) -> bool {
        self.published && self.stock > 0
    }
}

/// A product to add. It is not for sale until it is published.
#[svc_input]
#[derive(Debug)]
pub struct NewProduct {
    /// The number on the shelf.
    #[svc(length(1..=40))]
    pub sku: String,
    /// The name as shown.
    #[svc(length(1..=80))]
    pub name: String,
    /// More of it.
    #[svc(not_null)]
    pub description: Option<String>,
    /// The price of a piece.
    pub price: Decimal,
    /// The pieces that are there.
    #[svc(not_null, range(0..))]
    pub stock: Option<i32>,
}

/// The changes to a product. What is left out stays.
#[svc_input]
#[derive(Debug)]
pub struct ProductPatch {
    /// The new name.
    #[svc(not_null, length(1..=80))]
    pub name: Patch<String>,
    /// The new price.
    #[svc(not_null)]
    pub price: Patch<Decimal>,
    /// The pieces that are there now.
    #[svc(not_null)]
    pub stock: Patch<i32>,
    /// Whether it is for sale.
    #[svc(not_null)]
    pub published: Patch<bool>,
}

/// Products, page by page.
#[svc::query(order_by = "name")]
pub async fn products() -> Connection<Product>;

/// One product, by its id or its number.
#[svc::query]
pub async fn product(id: Option<Uuid>, sku: Option<String>) -> Option<Product>;

/// Counts, prices and stocks.
#[svc::query]
pub async fn product_statistics() -> Aggregate<Product>;

/// Adds products, all or none.
#[svc::mutation(insert = "tb_product")]
#[svc::requires_any_role("clerk", "manager")]
pub async fn create_products(input: Vec<NewProduct>) -> Vec<Product>;

/// Changes a product.
#[svc::mutation(update = "tb_product")]
#[svc::requires_any_role("clerk", "manager")]
pub async fn update_product(id: Uuid, input: ProductPatch) -> Product;

/// Changes all products that match, such as those of a season.
#[svc::mutation(update = "tb_product", by = filter, max_rows = 100)]
#[svc::requires_any_role("clerk", "manager")]
pub async fn update_products(input: ProductPatch) -> Vec<Product>;

/// Removes a product that was never sold.
#[svc::mutation(delete = "tb_product")]
#[svc::requires_role("manager")]
pub async fn delete_product(id: Uuid) -> Product;

/// Replaces the categories of a product.
#[svc::mutation(function = "app.set_categories")]
#[svc::requires_any_role("clerk", "manager")]
pub async fn set_categories(product: Uuid, categories: Vec<Uuid>) -> Product;
