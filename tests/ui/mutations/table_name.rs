//! A table has the name of one.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc::mutation(insert = "tb product")]
async fn create_product(input: NewProduct) -> Product;

fn main() {}
