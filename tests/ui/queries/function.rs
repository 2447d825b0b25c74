#[svc::query(function = "app.users")]
async fn users() -> i32;

fn main() {}
