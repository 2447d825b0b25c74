//! A list is written exactly where one is answered with.

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
async fn create_products(input: Vec<NewProduct>) -> Product;

#[svc::mutation(insert = "tb_product")]
async fn create_product(input: NewProduct) -> Vec<Product>;

fn main() {}
