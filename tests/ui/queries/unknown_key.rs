use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::query(sql_source = "v_user")]
async fn users() -> Vec<User>;

fn main() {}
