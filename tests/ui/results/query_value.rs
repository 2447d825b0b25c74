use svc::prelude::*;

#[svc_result(query = false)]
enum CreateUserResult {
    Success,
    Error,
}

fn main() {}
