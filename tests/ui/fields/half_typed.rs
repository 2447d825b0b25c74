use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name:
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation]
    user: One<User>,
}

#[svc::query]
async fn users() -> Vec<User>;

#[svc::query]
fn user() -> Option<User> {
    None
}

fn main() {
    let _ = queries![users, user];
}
