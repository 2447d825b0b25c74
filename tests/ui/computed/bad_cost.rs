use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_type]
impl User {
    #[svc(cost = 0)]
    async fn free(&self) -> i32 {
        0
    }

    #[svc(cost = "50")]
    fn text(&self) -> i32 {
        50
    }

    #[svc(cost = 5, skip)]
    fn helper(&self) -> i32 {
        5
    }
}

fn main() {}
