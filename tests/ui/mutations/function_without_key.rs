use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::mutation("app.create_user")]
async fn create_user(name: String) -> User;

fn main() {}
