#[svc::query]
async fn echo<T: Into<String>>(text: T) -> String {
    text.into()
}

fn main() {}
