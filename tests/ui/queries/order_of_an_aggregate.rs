use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: String,
}

#[svc::query(order_by = "name")]
async fn users() -> Aggregate<User>;

fn main() {}
