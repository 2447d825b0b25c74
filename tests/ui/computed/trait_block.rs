use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl Clone for User {
    fn clone(&self) -> Self {
        Self { id: self.id }
    }
}

fn main() {}
