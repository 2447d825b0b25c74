use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    größe: f64,
}

fn main() {}
