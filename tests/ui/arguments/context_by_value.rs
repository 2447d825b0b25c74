use svc::prelude::*;

#[svc::query]
async fn ping(ctx: Context<'_>) -> bool {
    let _ = ctx;
    true
}

fn main() {}
