#[svc::query]
unsafe fn ping() -> bool {
    true
}

fn main() {}
