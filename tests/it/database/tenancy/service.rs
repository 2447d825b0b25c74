//! The service with notes of tenants, and a function for each way to read and to write them.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::sqlx;
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_note")]
pub(super) struct Note {
    id: i32,
    body: String,
    /// The same for the notes of all tenants.
    shelf: i32,
    #[relation(from = "shelf", to = "shelf")]
    neighbours: Many<Note>,
}

#[svc_type]
impl Note {
    fn shout(&self) -> String {
        self.body.to_uppercase()
    }
}

#[svc_type(sql_source = "v_seen")]
pub(super) struct Seen {
    tenant: Option<String>,
    user: Option<String>,
}

#[svc_type(sql_source = "v_slow_note")]
struct SlowNote {
    body: String,
}

#[svc_type(sql_source = "v_broken")]
struct Broken {
    id: i32,
}

#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
async fn note(id: i32) -> Option<Note>;
#[svc::query]
pub(super) async fn seen() -> Seen;
#[svc::query]
async fn slow_notes() -> Vec<SlowNote>;
#[svc::query]
async fn broken() -> Option<Broken>;
#[svc::query]
async fn found(ctx: &Context<'_>) -> Result<Find<Note>> {
    Ok(ctx.db().find::<Note>().order_by(asc("id")))
}
#[svc::query]
async fn found_one(ctx: &Context<'_>, id: i32) -> Result<FindOne<Note>> {
    Ok(ctx.db().find_one::<Note>().filter(col("id").eq(id)))
}
#[svc::query]
pub(super) async fn awaited(ctx: &Context<'_>) -> Result<Vec<Note>> {
    ctx.db().find::<Note>().order_by(asc("id")).await
}
#[svc::query]
pub(super) async fn count(ctx: &Context<'_>) -> Result<i64> {
    ctx.db().find::<Note>().count().await
}
#[svc::query]
async fn exists(ctx: &Context<'_>, id: i32) -> Result<bool> {
    ctx.db()
        .find::<Note>()
        .filter(col("id").eq(id))
        .exists()
        .await
}

#[svc::query]
async fn paged() -> Connection<Note>;
#[svc::query]
async fn totals() -> Aggregate<Note>;
#[svc::query]
async fn found_page(ctx: &Context<'_>, page: CursorPage) -> Result<Connection<Note>> {
    Ok(ctx.db().find::<Note>().order_by(asc("id")).paginate(page))
}
#[svc::query]
async fn found_totals(ctx: &Context<'_>) -> Result<Aggregate<Note>> {
    Ok(ctx.db().find::<Note>().aggregate())
}
/// Everything else that the repository gives, in one list.
#[svc::query]
async fn repository(ctx: &Context<'_>) -> Result<Vec<String>> {
    let notes = || ctx.db().find::<Note>().order_by(asc("id"));
    let slice = notes()
        .paginate(CursorPage {
            first: Some(10),
            ..CursorPage::default()
        })
        .await?;
    let mut all: Vec<String> = slice.edges.into_iter().map(|edge| edge.node.body).collect();
    all.extend(notes().distinct("body").await?.into_iter().flatten());
    all.extend(notes().min("body").await?);
    all.extend(notes().max("body").await?);
    all.extend(notes().sum("shelf").await?.map(|sum| sum.to_string()));
    all.push(notes().group_counts(["body"]).await?.len().to_string());
    all.extend(
        notes()
            .json()
            .await?
            .iter()
            .map(|row| row["body"].as_str().unwrap_or_default().to_owned()),
    );
    Ok(all)
}

const BODIES: &str = "SELECT body FROM v_note ORDER BY id";

#[svc::query]
pub(super) async fn in_transaction(ctx: &Context<'_>) -> Result<Vec<String>> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let bodies: Vec<String> = sqlx::query_scalar(BODIES).fetch_all(&mut *tx).await?;
    let notes = tx.rows(ctx.db().find::<Note>().order_by(asc("id"))).await?;
    assert!(notes.iter().map(|note| &note.body).eq(&bodies));
    tx.commit().await?;
    Ok(bodies)
}
#[svc::query]
async fn on_connection(ctx: &Context<'_>) -> Result<Vec<String>> {
    let mut connection = ctx.db().sqlx_connection().await?;
    let bodies = sqlx::query_scalar(BODIES)
        .fetch_all(&mut *connection)
        .await?;
    connection.close().await?;
    Ok(bodies)
}
/// The settings that a connection of the pool knows when no request has set anything.
#[svc::query]
async fn left_in_pool(ctx: &Context<'_>) -> Result<Option<String>> {
    Ok(
        sqlx::query_scalar("SELECT current_setting('app.tenant_id', true)")
            .fetch_one(ctx.db().pool())
            .await?,
    )
}

#[svc::mutation]
async fn add(ctx: &Context<'_>, body: String, commit: bool) -> Result<bool> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let insert = "INSERT INTO tb_note (tenant, body) VALUES (current_setting('app.tenant_id'), $1)";
    sqlx::query(insert).bind(&body).execute(&mut *tx).await?;
    let seen = tx
        .row(
            ctx.db()
                .find_one::<Note>()
                .filter(col("body").eq(body.as_str())),
        )
        .await?;
    assert_eq!(
        seen.map(|note| note.body).as_ref(),
        Some(&body),
        "the transaction sees what it did"
    );
    let outside = ctx
        .db()
        .find::<Note>()
        .filter(col("body").eq(body.as_str()))
        .exists()
        .await?;
    assert!(!outside, "nobody else does");
    if commit {
        tx.commit().await?;
    }
    Ok(commit)
}
/// Row-level security refuses a row of another tenant.
#[svc::mutation]
async fn smuggle(ctx: &Context<'_>, tenant: String) -> Result<bool> {
    let mut connection = ctx.db().sqlx_connection().await?;
    let insert =
        sqlx::query("INSERT INTO tb_note (tenant, body) VALUES ($1, 'smuggled')").bind(tenant);
    insert.execute(&mut *connection).await?;
    connection.close().await?;
    Ok(true)
}

#[svc::mutation(function = "tenant_of_call")]
async fn tenant_of_call() -> Option<String>;
/// Its answer names a row, which is then read from the view.
#[svc::mutation(function = "add_note")]
async fn add_note(tenant: Option<String>, body: String) -> Option<Note>;
#[svc::mutation(function = "add_then_fail")]
async fn add_then_fail(body: String) -> Option<Note>;
#[svc::mutation]
async fn called(ctx: &Context<'_>) -> Result<Option<String>> {
    ctx.db().call("tenant_of_call", Vec::<Value>::new()).await
}
#[svc::mutation]
async fn call_add(ctx: &Context<'_>, tenant: Option<String>, body: String) -> Result<Option<Note>> {
    ctx.db()
        .call("add_note", [json!(tenant), json!(body)])
        .await
}
#[svc::mutation]
async fn call_and_fail(ctx: &Context<'_>, body: String) -> Result<Option<Note>> {
    ctx.db().call("add_then_fail", [json!(body)]).await
}

const SQL: &str = "
CREATE TABLE tb_note (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL, body text NOT NULL);
INSERT INTO tb_note (tenant, body) VALUES ('a', 'a one'), ('b', 'b one'), ('a', 'a two'), ('b', 'b two'), ('b', 'b three');
ALTER TABLE tb_note ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tb_note USING (tenant = current_setting('app.tenant_id', true));
CREATE VIEW v_note WITH (security_invoker = true) AS SELECT id, body, 1 AS shelf FROM tb_note;
CREATE VIEW v_slow_note WITH (security_invoker = true) AS SELECT body FROM tb_note, pg_sleep(300);
CREATE VIEW v_broken AS SELECT 1 / (current_setting('app.tenant_id', true) = '')::int AS id;
CREATE VIEW v_seen AS
SELECT current_setting('app.tenant_id', true) AS tenant, current_setting('app.user', true) AS \"user\";
CREATE FUNCTION tenant_of_call() RETURNS text LANGUAGE sql AS $$ SELECT current_setting('app.tenant_id', true) $$;
CREATE FUNCTION add_note(owner text, body text) RETURNS jsonb LANGUAGE sql AS $$
INSERT INTO tb_note (tenant, body) VALUES (coalesce(owner, current_setting('app.tenant_id')), body)
RETURNING jsonb_build_object('status', 'created', 'entity', jsonb_build_object('id', id)) $$;
CREATE FUNCTION add_then_fail(body text) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
    PERFORM set_config('app.tenant_id', 'a', false);
    INSERT INTO tb_note (tenant, body) VALUES ('a', body);
    RAISE EXCEPTION 'no more notes';
END $$;
DO $$ BEGIN
    EXECUTE format('CREATE ROLE %I LOGIN', 'app_' || current_database());
    EXECUTE format('GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO %I', 'app_' || current_database());
    EXECUTE format('ALTER DATABASE %I SET app.tenant_id = ''a''', current_database());
END $$;";

/// A database, and the URL of a role that row-level security applies to.
pub(super) async fn database() -> (TestDatabase, String) {
    let database = TestDatabase::new(SQL).await;
    let name: String = sqlx::query_scalar("SELECT current_database()::text")
        .fetch_one(&database.pool().await)
        .await
        .unwrap();
    let url = format!("{}&user=app_{name}", database.url());
    (database, url)
}

pub(super) async fn serve(url: &str, pool_size: u32) -> App {
    let variables = SessionVariables::new()
        .header("app.tenant_id", "x-tenant")
        .with("app.user", |ctx| {
            ctx.header("x-user").map(|user| format!("user {user}"))
        });
    // All of a hundred requests at once have their turn, and a statement that is abandoned does not
    // end by itself.
    let patience = std::time::Duration::from_secs(300);
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url.to_owned()),
            pool_size,
            pool_timeout: patience,
            query_timeout: patience,
            ..svc::DatabaseConfig::default()
        },
        protection: svc::ProtectionConfig {
            load_shedding: false,
            ..svc::ProtectionConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .session_variables(variables)
        .mutations(mutations![
            add,
            smuggle,
            tenant_of_call,
            add_note,
            add_then_fail,
            called,
            call_add,
            call_and_fail
        ]);
    App::serve(options.queries(queries![
        notes,
        paged,
        totals,
        found_page,
        found_totals,
        repository,
        note,
        seen,
        slow_notes,
        broken,
        found,
        found_one,
        awaited,
        count,
        exists,
        in_transaction,
        on_connection,
        left_in_pool
    ]))
    .await
}

pub(super) async fn ask(app: &App, tenant: Option<&str>, query: &str) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = match tenant {
        Some(tenant) => request.header("x-tenant", tenant),
        None => request,
    };
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
}
