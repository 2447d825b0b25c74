use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    async fn rename(&mut self, id: Uuid) -> bool {
        self.id = id;
        true
    }
}

fn main() {}
