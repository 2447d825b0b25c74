use svc::prelude::*;

#[svc_type]
struct User {
    id: Uuid,
}

#[svc_type(sql_source = "v_user")]
impl User {
    fn one(&self) -> i32 {
        1
    }
}

fn main() {}
