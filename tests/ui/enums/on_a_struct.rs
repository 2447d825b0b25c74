use svc::prelude::*;

#[svc_enum]
struct Role {
    admin: bool,
}

fn main() {}
