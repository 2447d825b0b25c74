//! A mutation does one thing.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc::mutation(insert = "tb_product", update = "tb_product")]
async fn create_product(id: Uuid, input: NewProduct) -> Product;

#[svc::mutation(insert = "tb_product", function = "app.create_product")]
async fn call_product(input: NewProduct) -> Product;

fn main() {}
