use svc::prelude::*;

#[svc_type(source = "v_user")]
struct User {
    id: Uuid,
}

fn main() {}
