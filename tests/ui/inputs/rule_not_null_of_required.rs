use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(not_null)]
    name: String,
}

fn main() {}
