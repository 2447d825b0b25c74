#[svc::query]
const extern "C" fn ping() -> bool {
    true
}

fn main() {}
