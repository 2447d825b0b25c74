#[svc::query]
#[svc::requires_auth("admin")]
#[svc::requires_permission]
#[svc::requires_role("editor", "admin")]
#[svc::requires_any_permission()]
#[svc::requires_any_role(" ")]
fn secret() -> i32 {
    7
}

fn main() {}
