//! The type of what is written has a view.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc_type]
struct Loose {
    id: Uuid,
}

#[svc::mutation(insert = "tb_product")]
async fn create_product(input: NewProduct) -> Loose;

fn main() {}
