#[svc::test]
async fn posts_are_listed() {}

fn main() {}
