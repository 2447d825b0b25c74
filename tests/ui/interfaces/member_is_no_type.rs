use svc::prelude::*;

struct User {
    id: Uuid,
}

#[svc_interface(fields(id: Uuid))]
enum Node {
    User(User),
}

fn main() {}
