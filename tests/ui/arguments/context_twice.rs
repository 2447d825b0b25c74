use svc::prelude::*;

#[svc::query]
async fn ping(ctx: &Context<'_>, again: &Context<'_>) -> bool {
    let _ = (ctx, again);
    true
}

fn main() {}
