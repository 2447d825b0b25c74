#[svc::mutation(function = "app.ping")]
async fn ping() -> bool {
    true
}

fn main() {}
