use svc::prelude::*;

#[svc_type(sql_source = "v_user", implements = [Found])]
struct User {
    id: Uuid,
}

#[svc_union]
enum Found {
    User(User),
}

fn main() {}
