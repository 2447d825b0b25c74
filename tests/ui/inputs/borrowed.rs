use svc::prelude::*;

#[svc_input]
struct NewUser<'a> {
    name: &'a str,
}

fn main() {}
