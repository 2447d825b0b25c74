use svc::prelude::*;

#[svc_input]
struct NewUser {
    name: String,
    email:
}

#[svc::mutation]
async fn create_user(user: NewUser) -> String {
    user.name
}

fn main() {}
