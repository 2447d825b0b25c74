#[svc::mutation(context = ["tenant_id"])]
async fn ping() -> bool {
    true
}

fn main() {}
