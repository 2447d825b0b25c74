use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::mutation]
async fn create_user(id: Uuid) -> User;

fn main() {}
