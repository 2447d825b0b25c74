use svc::prelude::*;

#[svc_result]
enum CreateUserResult {
    Success,
    Error,
    NotFound,
}

fn main() {}
