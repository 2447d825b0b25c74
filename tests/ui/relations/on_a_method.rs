use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    #[relation]
    fn friends(&self) -> Vec<User> {
        Vec::new()
    }
}

fn main() {}
