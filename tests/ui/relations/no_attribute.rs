use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: String,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    author: One<User>,
}

fn main() {}
