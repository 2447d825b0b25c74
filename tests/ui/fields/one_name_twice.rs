use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    #[svc(name = "name")]
    first_name: String,
    #[svc(name = "name")]
    last_name: String,
}

fn main() {}
