use svc::prelude::*;

#[svc_type(sql_source = "v_user", name = "User", sql_source = "v_person")]
struct User {
    id: Uuid,
}

fn main() {}
