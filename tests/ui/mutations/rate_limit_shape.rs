#[svc::mutation(rate_limit = "5 per minute")]
fn ping() -> bool {
    true
}

fn main() {}
