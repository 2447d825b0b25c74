use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    name: String,
    #[svc(stored = "name")]
    label: String,
}

fn main() {}
