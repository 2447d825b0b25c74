use std::rc::Rc;

use svc::prelude::*;

#[svc_input]
struct NewUser {
    name: Rc<String>,
}

#[svc::mutation]
async fn create_user(user: NewUser) -> bool {
    user.name.is_empty()
}

fn main() {}
