#[svc::query]
async fn count() -> i32;

fn main() {}
