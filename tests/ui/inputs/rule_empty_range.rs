use svc::prelude::*;

#[svc_input]
struct NewUser {
    #[svc(range(10..=1))]
    age: i32,
    #[svc(length(5..5))]
    name: String,
    #[svc(length(-1..))]
    nick: String,
    #[svc(range(..))]
    size: i32,
    #[svc(length)]
    tags: Vec<String>,
}

fn main() {}
