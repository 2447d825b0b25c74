use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::query]
fn name(user: One<User>) -> i32 {
    let _ = user;
    1
}

fn main() {}
