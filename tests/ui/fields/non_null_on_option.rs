use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[svc(non_null)]
    nick: Option<String>,
}

fn main() {}
