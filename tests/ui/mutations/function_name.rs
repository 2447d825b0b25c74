#[svc::mutation(function = "app.ping()")]
async fn ping() -> bool;

fn main() {}
