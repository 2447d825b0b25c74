use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    #[svc = "fullName"]
    full_name: String,
}

fn main() {}
