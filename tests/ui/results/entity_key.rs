use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_result(entity = User)]
enum CreateUserResult {
    Success,
    Error,
}

fn main() {}
