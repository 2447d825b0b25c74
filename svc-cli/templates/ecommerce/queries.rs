//! Queries. A query without a body is one SQL statement over the view of its type.

use svc::prelude::*;

use crate::types::{Customer, Order, Product};

/// Products, page by page.
#[svc::query]
pub async fn products() -> Connection<Product>;

/// The product with this identifier.
#[svc::query]
pub async fn product(identifier: String) -> Option<Product>;

/// One customer.
#[svc::query]
pub async fn customer(id: Uuid) -> Option<Customer>;

/// Customers.
#[svc::query]
pub async fn customers() -> Vec<Customer>;

/// Orders, page by page.
#[svc::query]
pub async fn orders() -> Connection<Order>;

/// One order.
#[svc::query]
pub async fn order(id: Uuid) -> Option<Order>;

/// Adds the queries to the service.
pub fn add(options: AppOptions) -> AppOptions {
    options.queries(queries![
        products, product, customers, customer, orders, order
    ])
}
