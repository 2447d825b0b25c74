use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    fn tags(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.id.to_string())
    }
}

fn main() {}
