use svc::prelude::*;

#[svc_type(sql_source = "v_user", crate = framework)]
struct User {
    id: Uuid,
    name: String,
}

fn main() {}
