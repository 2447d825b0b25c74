use svc::prelude::*;

struct User {
    id: Uuid,
}

#[svc::query]
async fn users() -> Vec<User> {
    Vec::new()
}

fn main() {}
