use svc::prelude::*;

#[derive(Debug)]
pub enum CreateUserResultError {
    Taken,
    Forbidden,
}

#[svc_result]
pub enum CreateUserResult {
    Success { name: String },
    Error { kind: String },
}

fn main() {}
