use framework::prelude::*;

#[svc_enum]
pub enum Role {
    Admin,
}

#[svc_type(sql_source = "v_user")]
pub struct User {
    id: Uuid,
    role: Role,
}

#[svc_result]
pub enum CreateUserResult {
    Success { user: User },
    Error,
}

#[framework::query]
async fn users() -> Vec<User>;

#[framework::mutation]
fn create_user(role: Role) -> CreateUserResult {
    CreateUserResultSuccess::new("created", User { id: Uuid::nil(), role }).into()
}

pub fn lists() -> AppOptions {
    AppOptions::new().queries(queries![users]).mutations(mutations![create_user])
}
