#[svc::query]
async fn page(#[svc(default = 10i32)] limit: i32) -> i32 {
    limit
}

fn main() {}
