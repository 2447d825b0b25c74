//! The rows that are written are read again from a view.

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
async fn create_product(input: NewProduct) -> bool;

fn main() {}
