use svc::prelude::*;

#[svc_enum]
enum Answer {
    Yes,
    #[svc(name = "null")]
    Unknown,
}

fn main() {}
