#[svc::query]
struct Users;

fn main() {}
