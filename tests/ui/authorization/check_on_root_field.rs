use svc::prelude::*;

fn check(_: &i32, _: AuthorizationRequest) -> bool {
    true
}

#[svc::query]
#[svc::authorize_field(check)]
fn secret() -> i32 {
    7
}

fn main() {}
