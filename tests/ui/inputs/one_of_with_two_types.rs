use svc::prelude::*;

#[svc_input]
enum UserBy {
    Id(Uuid),
    Name(String, String),
}

fn main() {}
