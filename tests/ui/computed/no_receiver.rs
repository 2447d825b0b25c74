use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    fn new(id: Uuid) -> Self {
        Self { id }
    }
}

fn main() {}
