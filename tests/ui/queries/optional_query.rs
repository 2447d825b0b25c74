use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc::query]
async fn fallible(ctx: &Context<'_>, id: Uuid) -> Result<Option<FindOne<User>>> {
    Ok(Some(ctx.db().find_one::<User>().filter(col("id").eq(id))))
}

#[svc::query]
fn plain(ctx: &Context<'_>, id: Uuid) -> Option<FindOne<User>> {
    Some(ctx.db().find_one::<User>().filter(col("id").eq(id)))
}

#[svc::query]
fn list(ctx: &Context<'_>) -> Result<Option<Find<User>>> {
    Ok(Some(ctx.db().find::<User>()))
}

fn main() {}
