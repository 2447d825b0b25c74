use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(length(1..=80))]
    age: i32,
}

fn main() {}
