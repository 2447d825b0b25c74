use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation(aggregate)]
    author: One<User>,
}

fn main() {}
