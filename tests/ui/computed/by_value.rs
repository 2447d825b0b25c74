use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    fn name(self) -> String {
        self.id.to_string()
    }
}

fn main() {}
