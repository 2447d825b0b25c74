#[svc::mutation(rate_limit = "5/2day")]
fn ping() -> bool {
    true
}

fn main() {}
