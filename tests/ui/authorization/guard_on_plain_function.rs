#[svc::requires_any_role("admin")]
fn secret() -> i32 {
    7
}

fn main() {
    secret();
}
