use svc::prelude::*;

#[svc::subscription]
async fn count() -> i32 {
    1
}

#[svc::subscription]
async fn counts() -> Result<Vec<i32>> {
    Ok(vec![1])
}

fn main() {}
