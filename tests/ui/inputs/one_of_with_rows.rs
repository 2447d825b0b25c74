use svc::prelude::*;

#[svc_input]
struct NewLine {
    sku: String,
}

#[svc_input]
enum NewOrder {
    #[svc(rows = "tb_order_line", column = "order_id")]
    Lines(Vec<NewLine>),
}

fn main() {}
