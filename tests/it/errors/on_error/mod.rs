//! `onError`: the effect of an error on the values around it.

mod queries;
mod requests;
mod subscriptions;

use serde_json::{Value, json};
use svc::futures_util::stream;
use svc::prelude::*;
use svc::{Limits, Operation, ProtectionConfig};
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_writer", authorize_fields = ["salary"])]
struct Writer {
    id: i32,
    name: String,
    tags: Vec<String>,
    salary: i32,
    phone: Option<String>,
    #[relation(from = "id", to = "writer_id")]
    books: Many<Book>,
}

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    title: String,
}

#[svc_type]
struct Tutor {
    id: i32,
}

#[svc_type]
impl Tutor {
    fn grade(&self) -> Result<i32> {
        match self.id {
            2 => Err(Error::new(ErrorCode::BadUserInput, "there is no grade")),
            id => Ok(id),
        }
    }

    async fn slow_grade(&self) -> Result<i32> {
        tokio::task::yield_now().await;
        self.grade()
    }
}

#[svc::query]
async fn writers() -> Vec<Writer>;

#[svc::query]
async fn page() -> Connection<Writer>;

#[svc::query]
fn tutors() -> Vec<Tutor> {
    [1, 2, 3].map(|id| Tutor { id }).into()
}

#[svc::query]
fn fine() -> i32 {
    1
}

#[svc::query]
fn lost() -> Result<i32> {
    Err(Error::new(ErrorCode::BadUserInput, "lost"))
}

#[svc::query]
fn broken() -> Result<Option<i32>> {
    Err(Error::new(ErrorCode::BadUserInput, "broken"))
}

/// Ends only when it is dropped.
#[svc::query]
async fn endless() -> i32 {
    std::future::pending().await
}

/// Denied to everybody.
#[svc::query]
fn secret() -> i32 {
    7
}

fn items() -> [Result<i32>; 3] {
    [
        Ok(1),
        Err(Error::new(ErrorCode::BadUserInput, "no second")),
        Ok(3),
    ]
}

#[svc::subscription]
fn ticks() -> impl Stream<Item = Result<i32>> {
    stream::iter(items())
}

#[svc::subscription]
fn maybe_ticks() -> impl Stream<Item = Result<Option<i32>>> {
    stream::iter(items().map(|item| item.map(Some)))
}

const SQL: &str = "
    CREATE TABLE tb_writer (id int PRIMARY KEY, name text, tags text[], salary int, phone text);
    INSERT INTO tb_writer VALUES (1, 'ada', '{a,b}', 10, '1815'), (2, NULL, '{}', 20, '1'), (3, 'eve', '{x,NULL,y}', 30, '2');
    CREATE TABLE tb_book (id int PRIMARY KEY, writer_id int, title text);
    INSERT INTO tb_book VALUES (1, 1, 'one'), (2, 1, NULL), (3, 1, 'three');
    CREATE VIEW v_writer AS SELECT * FROM tb_writer;
    CREATE VIEW v_book AS SELECT * FROM tb_book;";

async fn policy(request: AuthorizationRequest) -> bool {
    !["Writer.salary", "secret"].contains(&request.operation_name())
}

/// A service whose responses show at most this many errors.
async fn limited(errors: usize) -> App {
    let url = TestDatabase::shared("on_error", SQL).await;
    let config = SvcConfig {
        limits: Limits {
            errors,
            ..Limits::default()
        },
        protection: ProtectionConfig {
            batch_max: 3,
            ..ProtectionConfig::default()
        },
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url(url)
            .queries(queries![
                writers, page, tutors, fine, lost, broken, endless, secret
            ])
            .subscriptions(subscriptions![ticks, maybe_ticks])
            .operations([Operation::new("query Both { lost fine }")])
            .authorizer(policy)
            .mask_where::<Writer>("phone", |_| Ok(RowDecision::deny())),
    )
    .await
}

async fn app() -> App {
    limited(Limits::default().errors).await
}

/// The `data` of a response, and the paths of its errors.
fn parts(response: &Value) -> (Value, Vec<Value>) {
    let errors = response["errors"].as_array().cloned().unwrap_or_default();
    let paths = errors.iter().map(|error| error["path"].clone()).collect();
    (response["data"].clone(), paths)
}

/// The answer to a document with this `onError`.
async fn ask(app: &App, query: &str, on_error: &str) -> (Value, Vec<Value>) {
    let reply = app
        .post(&json!({ "query": query, "onError": on_error }))
        .await;
    parts(&reply.json())
}
