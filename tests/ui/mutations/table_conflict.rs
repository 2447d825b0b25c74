//! An upsert says by what a row is there already, and nothing else does.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc::mutation(upsert = "tb_product")]
async fn put_product(input: NewProduct) -> Product;

#[svc::mutation(insert = "tb_product", conflict = "name", on_conflict = nothing)]
async fn create_product(input: NewProduct) -> Product;

#[svc::mutation(upsert = "tb_product", conflict = "name", on_conflict = fail)]
async fn keep_product(input: NewProduct) -> Product;

fn main() {}
