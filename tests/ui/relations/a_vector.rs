use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: String,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation]
    readers: Vec<User>,
}

fn main() {}
