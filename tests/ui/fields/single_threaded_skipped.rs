use std::cell::RefCell;

use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[svc(skip)]
    cache: Option<RefCell<String>>,
}

#[svc::query]
async fn users() -> Vec<User>;

fn main() {
    let _ = queries![users];
}
