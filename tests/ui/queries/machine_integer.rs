#[svc::query]
async fn count() -> usize {
    0
}

fn main() {}
