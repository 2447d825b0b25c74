use svc::testing::Database;

#[svc::test(migrations = "db/migrations")]
async fn posts_are_listed(database: Database) {
    let _ = database;
}

fn main() {}
