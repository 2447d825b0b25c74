use svc::prelude::*;

#[svc_enum]
enum Role {
    #[relation]
    Author,
}

fn main() {}
