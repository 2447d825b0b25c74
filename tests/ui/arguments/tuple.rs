#[svc::query]
async fn near(position: (f64, f64)) -> f64 {
    position.0
}

fn main() {}
