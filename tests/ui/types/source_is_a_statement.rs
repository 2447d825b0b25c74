use svc::prelude::*;

#[svc_type(sql_source = "SELECT * FROM users")]
struct User {
    id: Uuid,
}

fn main() {}
