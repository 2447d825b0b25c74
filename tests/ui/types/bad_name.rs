use svc::prelude::*;

#[svc_type(sql_source = "v_user", name = "user-type")]
struct User {
    id: Uuid,
}

fn main() {}
