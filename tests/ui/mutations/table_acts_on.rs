//! A write to a table acts on its rows already.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc_input]
struct NewProduct {
    name: String,
}

#[svc::mutation(delete = "tb_product", acts_on = Product(id))]
async fn delete_product(id: Uuid) -> Product;

#[svc::mutation(key = "pk_product", function = "app.delete_product")]
async fn call_delete(id: Uuid) -> Product;

fn main() {}
