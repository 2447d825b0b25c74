use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    fn one(&self) -> i32 {
        1
    }
}

#[svc_type]
impl User {
    fn two(&self) -> i32 {
        2
    }
}

fn main() {}
