use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_union(fields(id: Uuid))]
enum Found {
    User(User),
}

fn main() {}
