#[svc::mutation(function = "app.ping")]
async fn ping(ctx: &svc::Context<'_>) -> bool;

fn main() {}
