use svc::prelude::*;

#[svc_scalar]
struct Slug(String);

fn main() {}
