use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::query]
fn first() -> Option<One<User>> {
    None
}

fn main() {}
