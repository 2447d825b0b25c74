//! A shop of several tenants over PostgreSQL views. Run with `cargo run -p shop`.
//!
//! A module is a noun of the schema; `db/` has the tables, their policies, the views, the functions
//! and the seed.

pub mod carrier;
pub mod category;
pub mod customer;
pub mod order;
pub mod policy;
pub mod product;
pub mod review;
pub mod tenant;

use svc::prelude::*;
use svc::{Constraint, embedded};

/// The role as which requests run. The policies bind it, as it owns nothing.
pub const ROLE: &str = "shop";

/// Tables, policies, views, functions and the seed. It can be run again and again; the seed is sown
/// once.
pub const SETUP_SQL: &str = concat!(
    include_str!("../db/tables.sql"),
    include_str!("../db/policies.sql"),
    include_str!("../db/views.sql"),
    include_str!("../db/functions.sql"),
    include_str!("../../../crates/svc-engine/src/events/svc_notify.sql"),
    include_str!("../db/events.sql"),
    include_str!("../db/seed.sql"),
);

/// The shop with the settings of the environment. Unless they name a database, it runs an embedded
/// one in `.svc/shop`.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    let database = embedded::Options::new(".svc/shop").role(ROLE);
    Ok(with_shop(
        AppOptions::from_env()?
            .embedded_database(database)
            .setup_sql(SETUP_SQL),
    ))
}

/// Adds the shop to options that say where its database is.
pub fn with_shop(options: AppOptions) -> AppOptions {
    let options = options
        .auto_camel_case(true)
        .queries(queries![
            tenant::shop,
            customer::customers,
            customer::me,
            category::categories,
            product::products,
            product::product,
            product::product_statistics,
            order::orders,
            order::order,
            order::sales,
        ])
        .mutations(mutations![
            customer::update_customer,
            category::create_category,
            product::create_products,
            product::update_product,
            product::update_products,
            product::delete_product,
            product::set_categories,
            review::create_review,
            review::delete_review,
            order::place_order,
            order::cancel_order,
        ])
        .subscriptions(subscriptions![order::order_changed])
        .data(carrier::Carrier);
    policy::with_policy(with_messages(options))
}

/// The messages that clients read where a table refuses a row.
fn with_messages(options: AppOptions) -> AppOptions {
    options
        .constraint(
            Constraint::new("tb_product_sku", "another product has this number").field("sku"),
        )
        .constraint(Constraint::new("tb_product_price", "a price is above zero").field("price"))
        .constraint(Constraint::new("tb_product_stock", "a stock is not below zero").field("stock"))
        .constraint(Constraint::new(
            "tb_order_line_product",
            "it was sold already; take it off sale instead",
        ))
        .constraint(
            Constraint::new("tb_category_name", "there is such a category already").field("name"),
        )
        .constraint(
            Constraint::new("tb_category_parent", "there is no such category").field("parentId"),
        )
        .constraint(
            Constraint::new("tb_product_category_there", "there is no such category")
                .field("categories"),
        )
        .constraint(
            Constraint::new("tb_review_product", "there is no such product").field("productId"),
        )
        .constraint(Constraint::new(
            "tb_review_customer",
            "only customers of the shop write reviews",
        ))
        .constraint(
            Constraint::new("tb_review_once", "you have reviewed this product already")
                .field("productId"),
        )
}
