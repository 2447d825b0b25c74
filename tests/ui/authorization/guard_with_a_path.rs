const ADMIN: &str = "admin";

#[svc::query]
#[svc::requires_role(ADMIN)]
fn secret() -> i32 {
    ADMIN.len() as i32
}

fn main() {}
