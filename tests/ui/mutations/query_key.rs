#[svc::mutation(function = "app.rename_user", query)]
async fn rename_user(name: String) -> bool;

fn main() {}
