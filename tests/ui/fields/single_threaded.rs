use std::rc::Rc;

use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: Rc<String>,
}

#[svc::query]
async fn users() -> Vec<User>;

#[svc::query]
fn user() -> Option<User> {
    Some(User { id: Uuid::nil(), name: Rc::new("x".to_owned()) })
}

fn main() {
    let _ = queries![users, user];
}
