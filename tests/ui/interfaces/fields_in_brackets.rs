use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_interface(fields = [id])]
enum Node {
    User(User),
}

fn main() {}
