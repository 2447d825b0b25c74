use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

type Author = Option<User>;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation]
    author: Author,
}

fn main() {}
