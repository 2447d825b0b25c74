use framework::prelude::*;

#[svc_type(sql_source = "v_user", crate = framework)]
pub struct User {
    id: Uuid,
}

#[svc_result(crate = framework)]
pub enum CreateUserResult {
    Success { user: User },
    Error,
}

#[framework::query(crate = framework)]
async fn users() -> Vec<User>;

#[framework::mutation(crate = framework)]
fn create_user() -> CreateUserResult {
    CreateUserResultSuccess::new("created", User { id: Uuid::nil() }).into()
}

pub fn lists() -> AppOptions {
    AppOptions::new().queries(queries![users]).mutations(mutations![create_user])
}
