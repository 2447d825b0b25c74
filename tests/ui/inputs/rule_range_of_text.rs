use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(range(1..=80))]
    name: String,
}

fn main() {}
