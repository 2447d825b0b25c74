use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_union]
enum Found {
    #[svc(name = "Person")]
    User(User),
}

fn main() {}
