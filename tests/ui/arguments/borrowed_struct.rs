use svc::prelude::*;

#[svc_input]
struct NewUser {
    name: String,
}

#[svc::mutation]
async fn create_user(user: &NewUser) -> String {
    user.name.clone()
}

fn main() {}
