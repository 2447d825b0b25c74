use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: String,
}

#[svc::query(order_by = "created_at desc")]
async fn users() -> Vec<User>;

fn main() {}
