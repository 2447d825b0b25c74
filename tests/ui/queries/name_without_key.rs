#[svc::query("total")]
async fn count() -> i32 {
    0
}

fn main() {}
