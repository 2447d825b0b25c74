use svc::prelude::*;

#[svc_type(sql_source = "v_variant")]
struct Variant {
    sku: String,
}

#[svc_type]
impl Variant {
    #[svc(batch)]
    async fn stock(&self) -> Vec<i32> {
        vec![self.sku.len() as i32]
    }
}

fn main() {}
