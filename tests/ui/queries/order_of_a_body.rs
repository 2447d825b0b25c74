use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: String,
}

#[svc::query(order_by = "name")]
async fn users(ctx: &Context<'_>) -> Result<Find<User>> {
    Ok(ctx.db().find::<User>())
}

fn main() {}
