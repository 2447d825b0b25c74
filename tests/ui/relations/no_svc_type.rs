use svc::prelude::*;

struct User {
    id: Uuid,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation]
    author: One<User>,
}

fn main() {}
