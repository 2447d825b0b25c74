use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_union]
enum Found {
    User(Option<User>),
}

#[svc::query]
fn found() -> Option<Found> {
    None
}

fn main() {}
