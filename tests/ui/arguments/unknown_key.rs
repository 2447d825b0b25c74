#[svc::query]
async fn page(#[svc(desc = "how many")] limit: i32) -> i32 {
    limit
}

fn main() {}
