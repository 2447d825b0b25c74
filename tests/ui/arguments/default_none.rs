#[svc::query]
async fn page(#[svc(default = None)] limit: Option<i32>) -> Option<i32> {
    limit
}

fn main() {}
