use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[cfg(debug_assertions)]
    trace: String,
}

fn main() {}
