//! A filter selects the rows of an update or a delete, and of nothing else.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc::mutation(insert = "tb_product", by = filter)]
async fn create_product(input: NewProduct) -> Product;

#[svc::mutation(upsert = "tb_product", conflict = "name", by = filter)]
async fn put_product(input: NewProduct) -> Product;

#[svc::mutation(update = "tb_product", by = filter)]
async fn update_products() -> Vec<Product>;

#[svc::mutation(update = "tb_product", by = key)]
async fn update_product(id: Uuid, input: NewProduct) -> Product;

#[svc::mutation(delete = "tb_product", max_rows = 50)]
async fn delete_product(id: Uuid) -> Product;

#[svc::mutation(delete = "tb_product", by = filter, max_rows = 0)]
async fn delete_products() -> Vec<Product>;

#[svc::mutation(function = "app.delete_all", by = filter)]
async fn delete_all() -> bool;

#[svc::mutation(update = "tb_product", allow_empty_filter)]
async fn change_product(id: Uuid, input: NewProduct) -> Product;

#[svc::mutation(delete = "tb_product", by = filter, allow_empty_filter = true)]
async fn clear_products() -> Vec<Product>;

fn main() {}
