use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct __User {
    id: Uuid,
}

fn main() {}
