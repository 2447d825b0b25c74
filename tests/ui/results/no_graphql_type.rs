use svc::prelude::*;

struct User {
    id: Uuid,
}

#[svc_result]
enum CreateUserResult {
    Success { user: User },
    Error,
}

fn main() {}
