use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
fn users() -> Vec<i32> {
    Vec::new()
}

fn main() {}
