#[svc::query(rate_limit = 5)]
fn ping() -> bool {
    true
}

fn main() {}
