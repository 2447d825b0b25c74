//! There is something to write, and something that chooses the row.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc::mutation(insert = "tb_product")]
async fn create_product() -> Product;

#[svc::mutation(update = "tb_product")]
async fn update_product(input: NewProduct) -> Product;

#[svc::mutation(delete = "tb_product")]
async fn delete_product() -> Product;

fn main() {}
