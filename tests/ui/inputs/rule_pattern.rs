use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(pattern = "^[a-z+$")]
    name: String,
}

fn main() {}
