use svc::metrics::with_metrics;

#[with_metrics(operation_type = "job")]
async fn report() -> svc::Result<usize> {
    Ok(42)
}

fn main() {
    let _ = report();
}
