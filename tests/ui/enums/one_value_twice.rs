use svc::prelude::*;

#[svc_enum]
enum Role {
    HttpError,
    HTTPError,
}

fn main() {}
