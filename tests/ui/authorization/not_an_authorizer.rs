use svc::prelude::*;

fn admins_only(user: &str) -> bool {
    user == "admin"
}

#[svc::query(authorizer = admins_only)]
fn secret() -> i32 {
    7
}

fn main() {}
