use svc::prelude::*;

#[svc::query]
async fn ping() -> Result<()> {
    Ok(())
}

fn main() {}
