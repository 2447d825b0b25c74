use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::query]
#[inline]
async fn users() -> Vec<User>;

fn main() {}
