#[svc::query]
async fn page(#[svc(name = "limit")] first: i32, limit: i32) -> i32 {
    first + limit
}

fn main() {}
