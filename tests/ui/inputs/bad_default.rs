use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(default = Vec::new())]
    tags: Vec<String>,
}

fn main() {}
