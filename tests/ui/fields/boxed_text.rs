use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: Option<std::sync::Arc<str>>,
}

fn main() {}
