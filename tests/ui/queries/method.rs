struct Root;

impl Root {
    #[svc::query]
    async fn ping(&self) -> bool {
        true
    }
}

fn main() {}
