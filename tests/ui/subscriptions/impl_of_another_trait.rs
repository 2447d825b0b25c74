#[svc::subscription]
fn numbers() -> impl Iterator<Item = i32> {
    0..3
}

fn main() {}
