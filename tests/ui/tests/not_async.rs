use svc::testing::Database;

#[svc::test]
fn posts_are_listed(database: Database) {
    let _ = database;
}

fn main() {}
