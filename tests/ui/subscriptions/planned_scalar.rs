use svc::prelude::*;

#[svc::subscription(channel = "counted")]
async fn counted() -> i32;

fn main() {}
