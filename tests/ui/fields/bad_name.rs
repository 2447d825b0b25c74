use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    #[svc(name = "full name")]
    full_name: String,
}

fn main() {}
