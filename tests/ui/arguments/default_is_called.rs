#[svc::query]
async fn page(#[svc(default = String::new())] after: String) -> String {
    after
}

fn main() {}
