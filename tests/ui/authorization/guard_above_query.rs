use svc::prelude::*;

#[svc::requires_auth]
#[svc::query]
fn secret() -> i32 {
    7
}

fn main() {}
