#[svc::mutation(rate_limit = "0/min")]
fn ping() -> bool {
    true
}

fn main() {}
