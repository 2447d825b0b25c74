#[svc::mutation(function = "app.log_in", on_failure = keep)]
async fn log_in(name: String) -> bool;

fn main() {}
