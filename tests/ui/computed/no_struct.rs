use svc::prelude::*;

struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    fn text(&self) -> String {
        self.id.to_string()
    }
}

fn main() {}
