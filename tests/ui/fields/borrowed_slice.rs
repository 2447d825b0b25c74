use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    tags: Option<&'static [String]>,
}

fn main() {}
