use svc::prelude::*;

#[svc_interface(fields(id: Uuid))]
enum Node {
    User(User),
}

#[svc_type(sql_source = "v_user", implements = Node)]
struct User {
    id: Uuid,
}

fn main() {}
