use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc::query(function = "app.nearby")]
async fn nearby(ctx: &Context<'_>) -> Result<Find<Place>> {
    Ok(ctx.db().find())
}

fn main() {}
