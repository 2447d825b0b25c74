#[svc::query]
async fn page(#[svc(default = )] size: i32) -> bool {
    size > 0
}

fn main() {}
