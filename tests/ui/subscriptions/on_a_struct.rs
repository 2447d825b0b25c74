#[svc::subscription]
struct Numbers {
    next: i32,
}

fn main() {}
