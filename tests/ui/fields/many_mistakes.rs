use svc::prelude::*;

#[svc_type(sql_source = "v user", nme = "Person")]
struct User {
    #[svc(name = "1st", stored = "")]
    first: String,
    second: &'static str,
}

#[svc::query]
async fn users() -> Vec<User>;

fn main() {}
