use svc::prelude::*;

#[svc_result]
struct CreateUserResult {
    id: Uuid,
}

fn main() {}
