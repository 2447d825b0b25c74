use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(stored = "full_name")]
    name: String,
}

fn main() {}
