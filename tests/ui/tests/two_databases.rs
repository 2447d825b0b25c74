use svc::testing::Database;

#[svc::test]
async fn posts_are_copied(from: Database, to: Database) {
    let _ = (from, to);
}

fn main() {}
