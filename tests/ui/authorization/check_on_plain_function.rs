#[svc::authorize_field(check)]
fn secret() -> i32 {
    7
}

fn main() {
    secret();
}
