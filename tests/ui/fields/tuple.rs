use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    position: (f64, f64),
}

fn main() {}
