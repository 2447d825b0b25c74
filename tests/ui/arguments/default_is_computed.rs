#[svc::query]
async fn recent(#[svc(default = 60 * 60)] seconds: i32) -> bool {
    seconds > 0
}

fn main() {}
