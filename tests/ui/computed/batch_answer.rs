use svc::prelude::*;

#[svc_type(sql_source = "v_variant")]
struct Variant {
    sku: String,
}

#[svc_type]
impl Variant {
    #[svc(batch)]
    async fn stock(variants: &[&Self]) -> Option<i32> {
        variants.first().map(|variant| variant.sku.len() as i32)
    }
}

fn main() {}
