use svc::prelude::*;

#[svc_enum]
enum Role {}

fn main() {}
