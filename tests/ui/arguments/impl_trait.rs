#[svc::query]
async fn echo(text: impl Into<String>) -> String {
    text.into()
}

fn main() {}
