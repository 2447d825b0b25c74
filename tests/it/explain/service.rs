//! The service of these tests: books of a library, and a root field for each way to an answer.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Environment, Operation, ProtectionConfig, ResponseCache};
use svc_tests::{App, TestDatabase};

const SQL: &str = r#"
    CREATE TABLE tb_writer (id integer PRIMARY KEY, name varchar(40) NOT NULL);
    CREATE TABLE tb_book (
        id integer PRIMARY KEY, title text NOT NULL, year integer NOT NULL, writer_id integer NOT NULL,
        tags text[] NOT NULL DEFAULT '{}', gone boolean NOT NULL DEFAULT false
    );
    INSERT INTO tb_writer SELECT n, 'writer ' || n FROM generate_series(1, 10) AS n;
    INSERT INTO tb_book SELECT n, 'book ' || n, 1900 + n % 50, n % 10 + 1 FROM generate_series(1, 300) AS n;
    CREATE VIEW v_shelf AS SELECT * FROM tb_book WHERE NOT gone;
    CREATE VIEW v_book AS SELECT b.id, b.title, b.year, b.writer_id, b.tags, w.name AS writer_name
        FROM v_shelf b JOIN tb_writer w ON w.id = b.writer_id;
    CREATE VIEW v_writer AS SELECT * FROM tb_writer;
    CREATE TABLE tv_card (id integer PRIMARY KEY, data jsonb NOT NULL);
    INSERT INTO tv_card SELECT id, jsonb_build_object('id', id, 'title', title) FROM tb_book;
    CREATE TABLE "odd ""t"");--" (id integer PRIMARY KEY, "drop "";--" text NOT NULL);
    CREATE VIEW v_odd AS SELECT id, "drop "";--" AS name FROM "odd ""t"");--";
    CREATE TABLE tb_part (id integer NOT NULL, kind text NOT NULL) PARTITION BY RANGE (id);
    CREATE TABLE tb_part_low PARTITION OF tb_part FOR VALUES FROM (0) TO (100);
    CREATE TABLE tb_part_high PARTITION OF tb_part FOR VALUES FROM (100) TO (200);
    CREATE VIEW v_part AS SELECT * FROM tb_part;
    CREATE SEQUENCE calls;
    CREATE FUNCTION fn_add(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('calls');
        INSERT INTO tb_book VALUES ((input->>'id')::integer, input->>'title', 2000, 1);
        RETURN jsonb_build_object('status', 'created', 'entity_id', input->>'id');
    END $$;"#;

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    title: String,
    year: i32,
    tags: Vec<String>,
    writer_name: String,
    #[relation(from = "writer_id")]
    writer: One<Writer>,
}

#[svc_type(sql_source = "v_writer")]
struct Writer {
    id: i32,
    name: String,
    #[relation(to = "writer_id")]
    books: Many<Book>,
}

#[svc_type(sql_source = "tv_card")]
struct Card {
    id: i32,
    title: String,
}

#[svc_type(sql_source = "v_odd")]
struct Odd {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_part")]
struct Part {
    id: i32,
    kind: String,
}

#[svc::query]
async fn books() -> Vec<Book>;
#[svc::query]
async fn book(id: i32) -> Option<Book>;
#[svc::query]
async fn book_pages() -> Connection<Book>;
#[svc::query]
async fn book_totals() -> Aggregate<Book>;
#[svc::query]
async fn writers() -> Vec<Writer>;
#[svc::query]
async fn cards() -> Vec<Card>;
#[svc::query]
async fn odds() -> Vec<Odd>;
#[svc::query]
async fn parts() -> Vec<Part>;

/// Kept for a minute.
#[svc::query(cache = 60)]
async fn kept(id: i32) -> Option<Book>;

/// One read for each book.
#[svc::query]
async fn one_by_one(ctx: &Context<'_>, count: i32) -> Result<i32> {
    for id in 1..=count {
        ctx.db().find_one::<Book>().filter(col("id").eq(id)).await?;
    }
    Ok(count)
}

/// Reads of a table that only its transaction has.
#[svc::mutation]
async fn temporary(ctx: &Context<'_>) -> Result<i32> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute(
        "CREATE TEMPORARY TABLE scratch ON COMMIT DROP AS SELECT 1 AS n",
        Vec::<Value>::new(),
    )
    .await?;
    tx.execute(
        "INSERT INTO scratch SELECT n + 1 FROM scratch",
        Vec::<Value>::new(),
    )
    .await?;
    tx.rows(ctx.db().find::<Book>().limit(1)).await?;
    tx.commit().await?;
    Ok(1)
}

#[svc::query]
fn denied() -> i32 {
    1
}

#[svc::query]
fn failing() -> Result<Option<i32>> {
    Err(Error::internal("out of paper"))
}

#[svc_input]
struct NewBook {
    id: i32,
    title: String,
}

#[svc_result]
enum AddResult {
    Success { book: Book },
    Error,
}

#[svc::mutation(function = "fn_add")]
async fn add(input: NewBook) -> AddResult;

/// The SQL of a registered operation.
const FIRST: &str = "SELECT jsonb_build_array(jsonb_build_object('title', title)) AS books, \
    (SELECT jsonb_build_array(jsonb_build_object('name', name)) FROM v_writer WHERE id = 1) AS writers \
    FROM v_book WHERE year > $1 ORDER BY id LIMIT 1";

pub(super) async fn library() -> TestDatabase {
    TestDatabase::copy_of("explained_library", SQL).await
}

pub(super) async fn serve(database: &TestDatabase, environment: Environment) -> App {
    let protection = ProtectionConfig {
        batch_max: 10,
        ..ProtectionConfig::default()
    };
    let config = SvcConfig {
        environment,
        protection,
        ..SvcConfig::default()
    };
    let first = "query first($year: Int!) { books(where: {year: {gt: $year}}, limit: 1) { title } \
                 writers(limit: 1) { name } }";
    let options = AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![
            books,
            book,
            book_pages,
            book_totals,
            writers,
            cards,
            odds,
            parts,
            kept
        ])
        .queries(queries![one_by_one, denied, failing])
        .mutations(mutations![add, temporary])
        .operations([Operation::new(first).sql(FIRST)])
        .response_cache(ResponseCache::new())
        .authorizer(async |request: AuthorizationRequest| request.operation_name() != "denied");
    App::serve(options).await
}

pub(super) async fn development() -> (TestDatabase, App) {
    let database = library().await;
    let app = serve(&database, Environment::Development).await;
    (database, app)
}

/// The whole answer of a request that asks to be explained.
pub(super) async fn ask(app: &App, query: &str) -> Value {
    app.post(&json!({ "query": query, "extensions": { "explain": true } }))
        .await
        .json()
}

/// The explanation of the first root field.
pub(super) async fn explained(app: &App, query: &str) -> Value {
    let answer = ask(app, query).await;
    assert!(answer["extensions"]["explain"].is_array(), "{answer}");
    answer["extensions"]["explain"][0].clone()
}

/// The statements of the hints of the first root field.
pub(super) async fn hints(app: &App, query: &str) -> Vec<String> {
    let explained = explained(app, query).await;
    let hints = explained["hints"].as_array().expect("hints").iter();
    hints
        .map(|hint| hint["sql"].as_str().expect("SQL").to_owned())
        .collect()
}
