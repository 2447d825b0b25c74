use svc::prelude::*;

#[svc_input]
struct NewUser(String);

fn main() {}
