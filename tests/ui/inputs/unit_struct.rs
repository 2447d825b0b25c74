use svc::prelude::*;

#[svc_input]
struct NewUser;

fn main() {}
