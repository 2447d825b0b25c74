use svc::metrics::with_metrics;

#[with_metrics]
fn report() -> svc::Result<usize> {
    Ok(42)
}

fn main() {
    let _ = report();
}
