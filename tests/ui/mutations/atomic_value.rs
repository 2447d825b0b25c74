#[svc::mutation(function = "app.log_in", atomic = false)]
async fn log_in(name: String) -> bool;

fn main() {}
