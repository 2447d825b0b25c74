#[svc::mutation(function = "app.log_in", atomic, on_failure = commit)]
async fn log_in(name: String) -> bool;

fn main() {}
