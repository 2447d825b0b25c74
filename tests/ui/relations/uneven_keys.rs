use svc::prelude::*;

#[svc_type(sql_source = "v_product")]
struct Product {
    tenant_id: i32,
    id: i32,
}

#[svc_type(sql_source = "v_line")]
struct Line {
    id: i32,
    #[relation(from = ["tenant_id", "product_id"], to = "id")]
    product: One<Product>,
}

fn main() {}
