use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[cfg_attr(all(), svc(name = "fullName"))]
    name: String,
}

fn main() {}
