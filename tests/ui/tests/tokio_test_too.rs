use svc::testing::Database;

#[svc::test]
#[tokio::test]
async fn posts_are_listed(database: Database) {
    let _ = database;
}

fn main() {}
