//! The tree of categories.

use svc::prelude::*;

use crate::product::Product;

/// A category, with those below it.
#[svc_type(sql_source = "v_category")]
#[derive(Debug)]
pub struct Category {
    /// Never reused.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// That which it lies in.
    #[relation]
    pub parent: Option<One<Category>>,
    /// Those that lie in it.
    #[relation(to = "parent_id", order_by = "name")]
    pub children: Many<Category>,
    /// The products of this category and of all below it.
    #[relation(
        through = "v_branch_product",
        here = "category_id",
        there = "product_id",
        order_by = "name"
    )]
    pub products: Many<Product>,
}

/// A category to add.
#[svc_input]
#[derive(Debug)]
pub struct NewCategory {
    /// Its name, which no other in the same place has.
    #[svc(length(1..=80))]
    pub name: String,
    /// That which it lies in.
    pub parent_id: Option<Uuid>,
}

/// Categories. Those that lie in no other are found by `where: { NOT: { parent: {} } }`.
#[svc::query(order_by = "name")]
pub async fn categories() -> Vec<Category>;

/// Adds a category.
#[svc::mutation(insert = "tb_category")]
#[svc::requires_any_role("clerk", "manager")]
pub async fn create_category(input: NewCategory) -> Category;
