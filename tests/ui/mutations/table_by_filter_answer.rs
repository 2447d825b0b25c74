//! A filter selects any number of rows, so a list is returned, and none is taken beside it.

use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    id: Uuid,
}

#[svc::mutation(delete = "tb_product", by = filter)]
async fn delete_products() -> Option<Product>;

#[svc::mutation(delete = "tb_product", by = filter)]
async fn delete_listed(ids: Vec<Uuid>) -> Vec<Product>;

fn main() {}
