use svc::prelude::*;

#[svc_result(query)]
enum CreateUserResult {
    Success { query: Option<String> },
    Error { query: Option<String> },
}

fn main() {}
