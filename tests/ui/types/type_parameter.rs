use svc::prelude::*;

#[svc_type(sql_source = "v_page")]
struct Page<T> {
    items: Vec<T>,
}

fn main() {}
