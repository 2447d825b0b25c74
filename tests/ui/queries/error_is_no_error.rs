use svc::prelude::*;

#[svc::query]
async fn ping() -> Result<bool, String> {
    Ok(true)
}

fn main() {}
