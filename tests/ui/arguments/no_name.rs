#[svc::query]
async fn ping(_: i32) -> bool {
    true
}

fn main() {}
