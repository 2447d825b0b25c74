//! `acts_on`: a mutation writes nothing of a row that the policies do not permit before it and
//! after it.
//!
//! `TRANSFERS=1000` lets rows change their owner so often on most kinds of views, and twice as often
//! on the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Operation, StartError};
use svc_tests::{App, TestDatabase, cases, eventually};

/// The same type and mutations over views of one kind.
macro_rules! documents {
    ($kind:ident, $view:literal) => {
        mod $kind {
            use svc::prelude::*;

            #[svc_type(sql_source = $view, name = "Document")]
            pub(super) struct Document {
                id: i32,
                owner: String,
                body: String,
            }

            #[svc_result]
            pub(super) enum Changed {
                Success { document: Option<Document> },
                Error {},
            }

            #[svc::query]
            async fn documents() -> Vec<Document>;
            #[svc::mutation(function = "app.revise", acts_on = Document(id))]
            async fn revise(id: i32, body: String) -> Option<Document>;
            #[svc::mutation(function = "app.revise", name = "reviseAny")]
            async fn revise_any(id: i32, body: String) -> Option<Document>;
            #[svc::mutation(function = "app.note", acts_on = Document(id))]
            async fn note(id: i32, author: String) -> bool;
            #[svc::mutation(function = "app.note", name = "noteAny")]
            async fn note_any(id: i32, author: String) -> bool;
            #[svc::mutation(function = "app.hand_over", acts_on = Document(id))]
            async fn hand_over(id: i32, owner: String) -> Changed;
            #[svc::mutation(function = "app.remove", acts_on = Document(id))]
            async fn remove(id: i32) -> bool;
            #[svc::mutation(function = "app.refuse", acts_on = Document(id))]
            async fn refuse(id: i32) -> Changed;
            #[svc::mutation(function = "app.refuse", on_failure = commit, acts_on = Document(id), name = "refuseAndKeep")]
            async fn refuse_and_keep(id: i32) -> Changed;

            pub(super) fn options() -> AppOptions {
                let options = AppOptions::new().queries(queries![documents]).row_policy::<Document>(super::own);
                options.mutations(mutations![
                    revise, revise_any, note, note_any, hand_over, remove, refuse, refuse_and_keep
                ])
            }
        }
    };
}

documents!(plain, "v_document");
documents!(data, "d_document");
documents!(table, "tv_document");
documents!(grouped, "g_document");

const KINDS: [&str; 4] = ["plain", "data", "table", "grouped"];

/// Their own documents, and all of them to the administrator.
fn own(ctx: &Context<'_>) -> Result<RowDecision> {
    Ok(match ctx.header("x-user") {
        Some("admin") => RowDecision::allow(),
        Some(user) => RowDecision::allow_where(col("owner").eq(user)),
        None => RowDecision::deny(),
    })
}

/// Each change of `tb_document` comes to the table that its rows are projected into. `tb_note` says
/// who wrote beside a document, and whose it was then.
const SQL: &str = "
CREATE TABLE tb_document (id int PRIMARY KEY, owner text NOT NULL, body text NOT NULL);
CREATE TABLE tb_note (id int GENERATED ALWAYS AS IDENTITY, document int, author text, owner text);
INSERT INTO tb_document SELECT n, CASE WHEN n % 2 = 0 THEN 'ada' ELSE 'bob' END, 'first' FROM generate_series(1, 8) n;
CREATE VIEW v_document AS SELECT * FROM tb_document;
CREATE VIEW d_document AS SELECT id, to_jsonb(t) AS data FROM tb_document t;
CREATE TABLE tv_document AS SELECT id, to_jsonb(t) AS data FROM tb_document t;
CREATE VIEW g_document AS SELECT t.id, max(t.owner) AS owner, max(t.body) AS body FROM tb_document t GROUP BY t.id;
CREATE SCHEMA app;
CREATE FUNCTION app.project() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' THEN DELETE FROM tv_document WHERE id = OLD.id; RETURN OLD; END IF;
    UPDATE tv_document SET data = to_jsonb(NEW) WHERE id = NEW.id;
    RETURN NEW;
END $$;
CREATE TRIGGER projected AFTER UPDATE OR DELETE ON tb_document FOR EACH ROW EXECUTE FUNCTION app.project();
CREATE TYPE app.mutation_response AS (status text, message text, entity_id text, entity jsonb);
CREATE FUNCTION app.revise(id int, body text) RETURNS jsonb LANGUAGE sql AS
  'UPDATE tb_document t SET body = revise.body WHERE t.id = revise.id RETURNING to_jsonb(t)';
CREATE FUNCTION app.note(id int, author text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(random() * 0.002);
    INSERT INTO tb_note (document, author, owner) SELECT t.id, note.author, t.owner FROM tb_document t WHERE t.id = note.id;
    RETURN true;
END $$;
CREATE FUNCTION app.hand_over(id int, owner text) RETURNS app.mutation_response LANGUAGE sql AS
  $$UPDATE tb_document t SET owner = hand_over.owner WHERE t.id = hand_over.id
    RETURNING ROW('updated', NULL, t.id::text, to_jsonb(t))::app.mutation_response$$;
CREATE FUNCTION app.remove(id int) RETURNS boolean LANGUAGE sql AS
  'DELETE FROM tb_document t WHERE t.id = remove.id RETURNING true';
CREATE FUNCTION app.refuse(id int) RETURNS app.mutation_response LANGUAGE sql AS
  $$UPDATE tb_document t SET body = 'refused', owner = CASE WHEN t.id = 4 THEN 'eve' ELSE t.owner END WHERE t.id = refuse.id
    RETURNING ROW('failed:full', 'it is full', NULL, NULL)::app.mutation_response$$;";

fn options(kind: &str, database: &TestDatabase) -> AppOptions {
    let options = match kind {
        "plain" => plain::options(),
        "data" => data::options(),
        "table" => table::options(),
        _ => grouped::options(),
    };
    options.database_url(database.url()).auto_camel_case(true)
}

async fn ask(app: &App, user: &str, query: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(
        request
            .header("x-user", user)
            .body(json!({ "query": query }).to_string()),
    )
    .await
    .json()
}

/// The documents as they are stored.
async fn stored(database: &TestDatabase) -> Vec<(i32, String, String)> {
    database
        .rows("SELECT id, owner, body FROM tb_document ORDER BY id")
        .await
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("acted", SQL).await
}

/// The code, the message and the effect of an error.
fn error(answer: &Value) -> (&str, &str, &str) {
    let (error, extensions) = (&answer["errors"][0], &answer["errors"][0]["extensions"]);
    let [code, message, effect] = [
        &extensions["code"],
        &error["message"],
        &extensions["mutation"],
    ]
    .map(|value| value.as_str().unwrap_or_default());
    (code, message, effect)
}

#[tokio::test]
async fn a_row_outside_the_policy_is_not_written() {
    for kind in KINDS {
        let database = database().await;
        let app = App::serve(options(kind, &database)).await;
        let own = ask(
            &app,
            "ada",
            "mutation { revise(id: 2, body: \"second\") { id body } }",
        )
        .await;
        assert_eq!(
            own,
            json!({ "data": { "revise": { "id": 2, "body": "second" } } }),
            "{kind}"
        );
        // Nobody can tell a row of another from one that is not there.
        let missing = (
            "NOT_FOUND",
            "there is no `Document` with this id",
            "NOT_DONE",
        );
        for id in [1, 99] {
            let other = ask(
                &app,
                "ada",
                &format!("mutation {{ revise(id: {id}, body: \"mine\") {{ id }} }}"),
            )
            .await;
            assert_eq!(error(&other), missing, "{kind} {id}");
            let other = ask(
                &app,
                "ada",
                &format!("mutation {{ note(id: {id}, author: \"ada\") }}"),
            )
            .await;
            assert_eq!(error(&other), missing, "{kind} {id}");
        }
        let before = stored(&database).await;
        assert_eq!(
            before[0],
            (1, "bob".to_owned(), "first".to_owned()),
            "{kind}"
        );
        // What it would become is not theirs.
        let away = ask(
            &app,
            "ada",
            "mutation { handOver(id: 2, owner: \"bob\") { __typename } }",
        )
        .await;
        let denied = (
            "FORBIDDEN",
            "the `Document` would become one that is not allowed",
            "NOT_DONE",
        );
        assert_eq!(error(&away), denied, "{kind}");
        assert_eq!(stored(&database).await, before, "{kind}");
        let by_admin = "mutation { handOver(id: 2, owner: \"bob\") { __typename ... on ChangedSuccess { document { owner } } } }";
        let changed = json!({ "__typename": "ChangedSuccess", "document": { "owner": "bob" } });
        assert_eq!(
            ask(&app, "admin", by_admin).await,
            json!({ "data": { "handOver": changed } }),
            "{kind}"
        );
        assert_eq!(
            error(&ask(&app, "ada", "mutation { remove(id: 2) }").await),
            missing,
            "{kind}"
        );
        assert_eq!(
            ask(&app, "bob", "mutation { remove(id: 2) }").await,
            json!({ "data": { "remove": true } }),
            "{kind}"
        );
        let rest = stored(&database).await;
        assert_eq!(
            rest.iter().map(|(id, ..)| *id).collect::<Vec<_>>(),
            [1, 3, 4, 5, 6, 7, 8],
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_failing_status_rolls_back_and_kept_changes_are_checked() {
    for kind in KINDS {
        let database = database().await;
        let app = App::serve(options(kind, &database)).await;
        let refused = "{ __typename ... on ChangedError { status message } }";
        let told = json!({ "__typename": "ChangedError", "status": "failed:full", "message": "it is full" });
        let answer = ask(
            &app,
            "ada",
            &format!("mutation {{ refuse(id: 2) {refused} }}"),
        )
        .await;
        assert_eq!(answer, json!({ "data": { "refuse": told } }), "{kind}");
        assert_eq!(stored(&database).await[1].2, "first", "{kind}");
        let answer = ask(
            &app,
            "ada",
            &format!("mutation {{ refuseAndKeep(id: 2) {refused} }}"),
        )
        .await;
        assert_eq!(
            answer,
            json!({ "data": { "refuseAndKeep": told } }),
            "{kind}"
        );
        assert_eq!(stored(&database).await[1].2, "refused", "{kind}");
        let answer = ask(
            &app,
            "ada",
            &format!("mutation {{ refuseAndKeep(id: 4) {refused} }}"),
        )
        .await;
        assert_eq!(error(&answer).0, "FORBIDDEN", "{kind}");
        assert_eq!(
            stored(&database).await[3],
            (4, "ada".to_owned(), "first".to_owned()),
            "{kind}"
        );
    }
}

/// The SQL of a registered operation would bypass the check of the row.
#[tokio::test]
async fn a_mutation_that_acts_on_a_row_ignores_registered_sql() {
    const NOTE: &str = "mutation Note($id: Int!) { note(id: $id, author: \"ada\") }";
    let database = database().await;
    let note = Operation::new(NOTE).sql("SELECT to_jsonb(app.note($1::int, 'sql')) AS note");
    let app = App::serve(options("plain", &database).operations([note])).await;
    for (id, code) in [(1, "NOT_FOUND"), (2, "")] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("x-user", "ada");
        let body = json!({ "query": NOTE, "variables": { "id": id } }).to_string();
        let answer = app.send(request.body(body)).await.json();
        assert_eq!(
            answer["errors"][0]["extensions"]["code"]
                .as_str()
                .unwrap_or_default(),
            code,
            "{answer}"
        );
    }
    let notes: Vec<(i32, String)> = database.rows("SELECT document, author FROM tb_note").await;
    assert_eq!(notes, [(2, "ada".to_owned())]);
}

/// The mutation waits for a concurrent change of the row, and checks the changed row.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_transferred_concurrently_is_not_written() {
    for (kind, code) in [
        ("plain", "NOT_FOUND"),
        ("data", "NOT_FOUND"),
        ("table", "NOT_FOUND"),
        ("grouped", "CONFLICT"),
    ] {
        let database = database().await;
        let app = App::serve(options(kind, &database)).await;
        let pool = database.pool().await;
        let mut other = pool.begin().await.unwrap();
        sqlx::query("UPDATE tb_document SET owner = 'bob' WHERE id = 2")
            .execute(&mut *other)
            .await
            .unwrap();
        let hand_over = async {
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
            eventually(
                async || match sqlx::query_scalar(waits).fetch_one(&pool).await {
                    Ok(1_i64) => Ok(()),
                    other => Err(format!("{other:?} wait")),
                },
            )
            .await;
            other.commit().await.unwrap();
        };
        let revise = ask(
            &app,
            "ada",
            "mutation { revise(id: 2, body: \"mine\") { id } }",
        );
        let (answer, ()) = tokio::join!(revise, hand_over);
        assert_eq!(
            (error(&answer).0, error(&answer).2),
            (code, "NOT_DONE"),
            "{kind}: {answer}"
        );
        assert_eq!(
            stored(&database).await[1],
            (2, "bob".to_owned(), "first".to_owned()),
            "{kind}"
        );
        pool.close().await;
    }
}

/// Whether an owner has written, and whether somebody has whose document it was no more.
async fn have_met(pool: &sqlx::PgPool) -> bool {
    let have = "SELECT EXISTS (SELECT FROM tb_note WHERE author <> 'any')
                AND EXISTS (SELECT FROM tb_note WHERE author = 'any' AND owner <> 'ada')";
    sqlx::query_scalar(have).fetch_one(pool).await.unwrap()
}

/// Rows change their owner during writes; each writer owned the row when it wrote.
#[tokio::test(flavor = "multi_thread")]
async fn no_foreign_write_commits_during_a_thousand_transfers() {
    let few = i32::try_from(cases("TRANSFERS", 200, 1_000)).unwrap();
    for kind in KINDS {
        let transfers = if kind == "plain" { 2 * few } else { few };
        let database = database().await;
        let app = App::serve(options(kind, &database)).await;
        // The service has its connections when the race begins.
        ask(&app, "admin", "{ documents { id } }").await;
        let is_over = Arc::new(AtomicBool::new(false));
        let write = async |user: &str, mutation: &str, author: &str| {
            let mut committed = 0;
            while !is_over.load(Ordering::Relaxed) {
                for id in 1..=2 {
                    let query =
                        format!("mutation {{ {mutation}(id: {id}, author: \"{author}\") }}");
                    let answer = ask(&app, user, &query).await;
                    committed += usize::from(answer == json!({ "data": { mutation: true } }));
                }
            }
            committed
        };
        let transfer = async {
            let pool = database.pool().await;
            let start = Instant::now();
            for n in 0_i32.. {
                // They go on until some have met writes, whichever side a busy machine holds up.
                let is_enough = n >= transfers && n % 50 == 0;
                if is_enough
                    && (have_met(&pool).await || start.elapsed() > Duration::from_secs(120))
                {
                    break;
                }
                let (id, owner) = (n % 2 + 1, if n % 4 < 2 { "ada" } else { "bob" });
                let given = sqlx::query("UPDATE tb_document SET owner = $2 WHERE id = $1")
                    .bind(id)
                    .bind(owner);
                given.execute(&pool).await.unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
            pool.close().await;
            0
        };
        // The last acts on no row, and shows that owners change often enough.
        let writers = [
            write("ada", "note", "ada"),
            write("bob", "note", "bob"),
            write("ada", "noteAny", "any"),
        ];
        let (_, committed) = futures_util::future::join(transfer, join_all(writers)).await;
        assert!(
            committed[0] + committed[1] > 0,
            "{kind}: nobody has written"
        );
        let pool = database.pool().await;
        let count = async |sql: &'static str| -> i64 {
            sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap()
        };
        let foreign = count(
            "SELECT count(*) FROM tb_note WHERE author IN ('ada', 'bob') AND author <> owner",
        )
        .await;
        assert_eq!(foreign, 0, "{kind}: foreign writes of {committed:?}");
        let kept = count("SELECT count(*) FROM tb_note").await;
        assert_eq!(
            kept,
            committed.iter().sum::<usize>() as i64,
            "{kind}: a denied write is kept"
        );
        assert!(
            count("SELECT count(*) FROM tb_note WHERE author = 'any' AND owner <> 'ada'").await > 0,
            "{kind}"
        );
        pool.close().await;
    }
}

#[svc_type]
struct Loose {
    id: i32,
}

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::mutation(function = "app.note", acts_on = Loose(id))]
async fn loosen(id: i32, author: String) -> Option<Loose>;

#[tokio::test]
async fn acts_on_requires_a_type_with_a_sql_source() {
    let options = AppOptions::new()
        .database_url("postgres://nowhere")
        .queries(queries![hello])
        .mutations(mutations![loosen]);
    let error = create_svc_app(options).await.map(drop).unwrap_err();
    let StartError::RowPolicy(why) = &error else {
        panic!("{error}")
    };
    assert!(
        why.starts_with("the mutation `loosen` acts on `")
            && why.contains("name a type with a `sql_source`"),
        "{why}"
    );
}
