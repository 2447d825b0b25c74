use svc::prelude::*;

#[svc_input]
struct NewLine {
    sku: String,
}

#[svc_input]
struct NewOrder {
    #[svc(column = "order_id")]
    lines: Vec<NewLine>,
}

fn main() {}
