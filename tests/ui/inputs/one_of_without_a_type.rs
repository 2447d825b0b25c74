use svc::prelude::*;

#[svc_input]
enum UserBy {
    Id(Uuid),
    Me,
}

fn main() {}
