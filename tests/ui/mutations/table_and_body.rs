//! A mutation that writes to a table has no body.

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
async fn create_product(input: NewProduct) -> Option<Product> {
    drop(input);
    None
}

fn main() {}
