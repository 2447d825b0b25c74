use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_result]
enum CreateUserResult {
    Success { user: User },
}

fn main() {}
