use svc::prelude::*;

#[svc_input]
enum UserBy {
    Id(Uuid),
    #[svc(default = "Ada")]
    Name(String),
}

fn main() {}
