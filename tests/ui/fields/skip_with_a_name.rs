use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[svc(skip, name = "secret")]
    hash: String,
}

fn main() {}
