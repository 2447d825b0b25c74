use svc::prelude::*;

#[svc_result]
enum CreateUserResult {
    Success { id: Uuid },
    Error { code: i32 },
}

fn main() {}
