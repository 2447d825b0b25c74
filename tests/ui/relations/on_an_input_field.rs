use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_input]
struct NewPost {
    title: String,
    #[relation]
    author: One<User>,
}

fn main() {}
