//! A database for each test: made of a template, dropped where the test succeeds, kept where it
//! fails.

use std::cell::Cell;

use std::collections::HashSet;

use svc::futures_util::future::join_all;
use svc::sqlx;
use svc::testing::{Database, Setup};

const TABLE: &str =
    "CREATE TABLE tb_note (body text NOT NULL); INSERT INTO tb_note VALUES ('first')";

async fn notes(database: &Database) -> Vec<String> {
    let pool = database.pool().unwrap();
    let notes = sqlx::query_scalar("SELECT body FROM tb_note ORDER BY body")
        .fetch_all(&pool)
        .await
        .unwrap();
    pool.close().await;
    notes
}

/// Whether the server of the tests has a database.
async fn exists(on: &Database, name: &str) -> bool {
    let pool = on.pool().unwrap();
    let query = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";
    sqlx::query_scalar(query)
        .bind(name)
        .fetch_one(&pool)
        .await
        .unwrap()
}

#[svc::test(sql = TABLE)]
async fn each_test_has_its_own_database(database: Database) {
    let setup = Setup::new().sql(TABLE);
    let others = join_all((0..12).map(|_| Database::create(&setup))).await;
    let others: Vec<Database> = others.into_iter().map(Result::unwrap).collect();
    let names: HashSet<_> = others
        .iter()
        .chain([&database])
        .map(Database::name)
        .collect();
    assert_eq!(names.len(), 13);
    others[0]
        .execute("INSERT INTO tb_note VALUES ('second'); INSERT INTO tb_note VALUES ('third')")
        .await
        .unwrap();
    assert_eq!(notes(&others[0]).await, ["first", "second", "third"]);
    assert_eq!(notes(&others[1]).await, ["first"]);
    let name = others[0].name().to_owned();
    tokio::task::spawn_blocking(move || drop(others))
        .await
        .unwrap();
    assert!(!exists(&database, &name).await);
}

#[svc::test(setup = ["it/testing/schema", "it/testing/seed.sql"], sql = "INSERT INTO tb_note VALUES ('from the test')")]
async fn files_are_run_in_order(database: Database) {
    assert_eq!(notes(&database).await, ["from the seed", "from the test"]);
}

async fn labels(database: &Database) -> Vec<String> {
    let pool = database.pool().unwrap();
    sqlx::query_scalar("SELECT body || ' ' || label FROM v_best")
        .fetch_all(&pool)
        .await
        .unwrap()
}

/// The second migration needs a function of the schema, the first view a later one and a column of
/// that migration.
#[svc::test(setup = ["it/testing/ordered/schema", "it/testing/ordered/migrations"])]
async fn migrations_run_before_the_schema_by_their_numbers(database: Database) {
    assert_eq!(labels(&database).await, ["first *"]);
}

#[svc::test(setup = ["it/testing/ordered/migrations", "it/testing/ordered/schema"])]
async fn the_order_of_folders_makes_no_difference(database: Database) {
    assert_eq!(labels(&database).await, ["first *"]);
}

#[svc::test(sql = "DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = app, public', current_database());
        EXECUTE format('ALTER DATABASE %I SET app.greeting = ''Hello, you''', current_database());
    END $$; CREATE SCHEMA app; CREATE TABLE app.tb_note (body text)")]
async fn settings_of_the_database_are_kept(database: Database) {
    assert!(notes(&database).await.is_empty());
    let pool = database.pool().unwrap();
    let greeting: String = sqlx::query_scalar("SHOW app.greeting")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(greeting, "Hello, you");
}

thread_local! {
    /// Whether another test calls this one.
    static IS_CALLED: Cell<bool> = const { Cell::new(false) };
}

/// A test within a test: it fails where another calls it.
#[svc::test(sql = TABLE)]
async fn fails(database: Database) -> Result<(), String> {
    if !IS_CALLED.get() {
        return Ok(());
    }
    let name = database.name().to_owned();
    match notes(&database).await.len() {
        1 => database
            .execute("INSERT INTO tb_note VALUES ('kept')")
            .await
            .map_err(|error| error.to_string())?,
        _ => panic!("it is not new"),
    }
    Err(name)
}

#[svc::test]
async fn the_database_of_a_failed_test_is_kept_until_it_runs_again(database: Database) {
    // The test has a runtime of its own.
    let call = || {
        IS_CALLED.set(true);
        fails()
    };
    let run = || std::thread::spawn(call).join().unwrap().unwrap_err();
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    assert!(exists(&database, &first).await);
}

#[tokio::test]
async fn a_mistake_in_the_set_up_has_a_file_and_a_line() {
    let setup = Setup::new()
        .path("it/testing/schema")
        .path("it/testing/wrong.sql");
    let error = Database::create(&setup).await.unwrap_err();
    let message = error.message();
    assert!(
        message.starts_with("it/testing/wrong.sql: line 3 of the set-up fails"),
        "{message}"
    );
    assert!(message.contains("tb_missing"), "{message}");
    // It is not the template of the next test.
    assert_eq!(
        Database::create(&setup).await.unwrap_err().message(),
        message
    );
}
