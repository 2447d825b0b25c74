#[svc::query]
async fn page(size: usize) -> bool {
    size > 0
}

fn main() {}
