use svc::prelude::*;

#[svc_input]
struct NewLine {
    sku: String,
}

#[svc_input]
struct NewOrder {
    #[svc(rows = "tb_order_line")]
    lines: Vec<NewLine>,
}

fn main() {}
