use svc::prelude::*;

#[svc_type(sql_source = "v_variant")]
struct Variant {
    sku: String,
}

#[svc_type]
impl Variant {
    #[svc(batch, function = "app.stock")]
    fn stock(&self) -> i32;

    #[svc(batch, skip)]
    fn helper(&self) -> i32 {
        self.sku.len() as i32
    }
}

fn main() {}
