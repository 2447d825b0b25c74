#[svc::mutation(on_failure = commit)]
async fn log_in(name: String) -> bool {
    name.is_empty()
}

fn main() {}
