use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type(sql_source = "v_post", implements = [Node])]
struct Post {
    id: Uuid,
}

#[svc_interface(fields(id: Uuid))]
enum Node {
    User(User),
}

fn main() {}
