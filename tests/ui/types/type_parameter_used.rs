use svc::prelude::*;

#[svc_type]
struct Page<T> {
    items: Vec<T>,
}

#[svc_type]
struct User {
    id: Uuid,
    names: Page<String>,
}

#[svc::query]
async fn users() -> Page<User> {
    Page { items: Vec::new() }
}

fn main() {
    let _ = queries![users];
}
