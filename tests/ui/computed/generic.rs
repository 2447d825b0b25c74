use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    fn convert<T: From<Uuid>>(&self) -> T {
        self.id.into()
    }
}

fn main() {}
