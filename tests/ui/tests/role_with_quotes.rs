use svc::testing::Database;

#[svc::test(role = "The App")]
async fn posts_are_listed(database: Database) {
    let _ = database;
}

fn main() {}
