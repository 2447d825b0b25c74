use svc::prelude::*;

#[svc_type(sql_source = "v_variant")]
struct Variant {
    sku: String,
}

#[svc_type]
impl Variant {
    #[svc(batch)]
    async fn stock(_ctx: &Context<'_>, store: i32) -> Vec<i32> {
        vec![store]
    }
}

fn main() {}
