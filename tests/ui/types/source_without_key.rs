use svc::prelude::*;

#[svc_type("v_user")]
struct User {
    id: Uuid,
}

fn main() {}
