use svc::prelude::*;

#[svc_type(sql_source = "v_user", query)]
struct User {
    id: Uuid,
}

fn main() {}
