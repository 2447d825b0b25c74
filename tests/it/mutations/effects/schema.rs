//! Mutations that can fail in every way.

use serde_json::{Value, json};
use svc::db::{AssertSqlSafe, SessionVariables};
use svc::prelude::*;
use svc::{DatabaseConfig, Operation};
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_post")]
pub(super) struct Post {
    pub(super) id: i32,
    pub(super) title: String,
    #[relation(from = "id", to = "post_id")]
    pub(super) comments: Many<Comment>,
}

#[svc_type]
impl Post {
    fn loud(&self) -> String {
        self.title.to_uppercase()
    }
}

#[svc_type(sql_source = "v_comment")]
pub(super) struct Comment {
    pub(super) id: i32,
    pub(super) post_id: i32,
}

#[svc_result]
pub(super) enum StrictResult {
    Success { post: Post },
    Error,
}

#[svc_result]
pub(super) enum LooseResult {
    Success { post: Option<Post> },
    Error,
}

#[svc::query]
async fn posts() -> Vec<Post>;
#[svc::mutation(function = "fn_post")]
async fn strict(title: String) -> StrictResult;
#[svc::mutation(function = "fn_post")]
async fn loose(title: String) -> Option<LooseResult>;
#[svc::mutation(function = "fn_post")]
async fn plain(title: String) -> Option<Post>;
#[svc::mutation(function = "fn_post")]
async fn must(title: String) -> Post;
#[svc::mutation]
async fn body(ctx: &Context<'_>, title: String, then: String) -> Result<Option<Post>> {
    let busy = || {
        Error::with_code("BANK_BUSY", "the bank is busy; try again")
            .with_extension("retryable", true)
    };
    let mut tx = ctx.db().sqlx_transaction().await?;
    if then == "busy early" {
        return Err(busy());
    }
    if then == "pool" {
        svc::sqlx::query("INSERT INTO tb_post (title) VALUES ($1)")
            .bind(&title)
            .execute(ctx.db().pool())
            .await?;
    }
    if then == "early" {
        svc::sqlx::query("SELECT 1 / 0").execute(&mut *tx).await?;
    }
    let insert = "INSERT INTO tb_post (title) VALUES ($1) RETURNING id";
    let id: i32 = svc::sqlx::query_scalar(insert)
        .bind(&title)
        .fetch_one(&mut *tx)
        .await?;
    if then == "terminate" {
        svc::sqlx::query("SELECT pg_terminate_backend(pg_backend_pid())")
            .execute(&mut *tx)
            .await?;
    }
    if then == "pool" {
        return Err(Error::new(
            ErrorCode::ServiceUnavailable,
            "the bank is closed",
        ));
    }
    tx.commit().await?;
    match then.as_str() {
        "refuse" => Err(Error::new(ErrorCode::Forbidden, "not you")),
        "unavailable" => Err(Error::new(
            ErrorCode::ServiceUnavailable,
            "the bank is closed",
        )),
        "busy" => Err(busy()),
        "panic" => panic!("in the body"),
        _ => ctx.db().find_one::<Post>().filter(col("id").eq(id)).await,
    }
}
#[svc::mutation]
async fn calls(ctx: &Context<'_>, title: String) -> Result<bool> {
    let _: Option<Post> = ctx.db().call("fn_post", [json!(title)]).await?;
    let _: Option<Post> = ctx.db().call("fn_post", [json!("divide")]).await?;
    Ok(true)
}

const SQL: &str = r#"
CREATE TYPE mutation_response AS (status text, message text, entity_id text, entity jsonb, metadata jsonb);
CREATE TABLE tb_post (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL,
    CONSTRAINT tb_post_title_key UNIQUE (title) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE tb_comment (id int, post_id int);
CREATE VIEW v_post AS SELECT id, title FROM tb_post;
CREATE VIEW v_comment AS SELECT id, post_id FROM tb_comment;
CREATE FUNCTION fn_post(title text) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
BEGIN
    INSERT INTO tb_post (title) VALUES (fn_post.title) RETURNING id INTO response.entity_id;
    CASE fn_post.title
        WHEN 'divide' THEN PERFORM 1 / 0;
        WHEN 'cancel' THEN PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(5);
        WHEN 'wait' THEN PERFORM pg_sleep(300);
        WHEN 'terminate' THEN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(5);
        WHEN 'conflict' THEN response.status := 'conflict:taken';
        ELSE response.status := 'created';
    END CASE;
    response.message := 'well done';
    RETURN response;
END $$;
CREATE PROCEDURE pr_post(t text, INOUT plain jsonb) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tb_post (title) VALUES (t);
    COMMIT;
    plain := jsonb_build_object('id', 1 / length(trim(t, 'f')));
END $$;"#;

/// The number of posts.
pub(super) async fn count(database: &TestDatabase) -> i64 {
    database.value("SELECT count(*) FROM tb_post").await
}

pub(super) async fn database() -> TestDatabase {
    TestDatabase::copy_of("effects", SQL).await
}

/// A service, perhaps with session variables.
pub(super) async fn app(url: &str, has_session: bool) -> App {
    let variables = SessionVariables::new().with("app.who", |_| Some("ada".to_owned()));
    App::serve(if has_session {
        options(url).session_variables(variables)
    } else {
        options(url)
    })
    .await
}

pub(super) fn options(url: &str) -> AppOptions {
    let inserted = |columns: &str| {
        AssertSqlSafe(format!(
            "INSERT INTO tb_post (title) VALUES ($1) RETURNING {columns}"
        ))
    };
    // Looks whether functions have changed name them too, and a proxy shall lose the answer to a
    // call.
    let database = DatabaseConfig {
        url: Some(url.to_owned()),
        catalogue_poll: None,
        ..DatabaseConfig::default()
    };
    AppOptions::new()
        .config(SvcConfig { database, ..SvcConfig::default() })
        .queries(queries![posts])
        .mutations(mutations![strict, loose, plain, must, body, calls])
        .operations([
            Operation::new("mutation Plain($t: String!) { plain(title: $t) { id title } }")
                .sql(inserted("jsonb_build_object('id', id, 'title', title) AS plain")),
            Operation::new("mutation Broken($t: String!) { plain(title: $t) { id title } other: must(title: $t) { id } }")
                .sql(inserted("jsonb_build_object('id', 'x') AS plain, jsonb_build_object('id', id) AS other")),
            Operation::new(
                "mutation Result($t: String!) { loose(title: $t) { ... on LooseSuccess { id } ... on LooseError { code } } plain(title: $t) { id } }",
            )
            .sql(inserted(
                "CASE title WHEN 'conflict' THEN '{\"__typename\": \"LooseError\", \"status\": \"conflict:x\", \"code\": 409, \"errors\": []}' \
                 ELSE '{\"__typename\": \"LooseSuccess\", \"status\": \"created\", \"id\": \"7\"}' END::jsonb AS loose, \
                 jsonb_build_object('id', id) AS plain",
            )),
            Operation::new(
                r#"mutation Three { a: plain(title: "a") { id } b: plain(title: "wait") { id } c: plain(title: "c") { id } }"#,
            )
            .sql("SELECT NULL::jsonb AS a, NULL::jsonb AS b, NULL::jsonb AS c"),
            Operation::new("mutation Calls($t: String!) { plain(title: $t) { id } }")
                .sql("/* commits /* by itself */ */ -- before it answers\n CALL pr_post($1, NULL)"),
        ])
}

/// The code of the first error, what it says of the mutation, and its path.
pub(super) fn error_of(reply: &Reply) -> (String, String, Value) {
    error_at(reply, 0)
}

pub(super) fn error_at(reply: &Reply, index: usize) -> (String, String, Value) {
    let error = reply.json()["errors"][index].clone();
    let text = |key: &str| {
        error["extensions"][key]
            .as_str()
            .unwrap_or_else(|| panic!("{}", reply.text))
            .to_owned()
    };
    (text("code"), text("mutation"), error["path"].clone())
}

pub(super) fn is(code: &str, mutation: &str, path: Value) -> (String, String, Value) {
    (code.to_owned(), mutation.to_owned(), path)
}
