//! Values that are made once for each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc::RequestContext;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, Log, Reply, TestDatabase};

struct User(String);
struct Roles(Vec<String>);
struct Calls(Arc<AtomicU32>);

#[svc::query]
fn user(ctx: &Context<'_>) -> Result<String> {
    Ok(ctx.data::<User>()?.0.clone())
}

#[svc::query]
async fn roles(ctx: &Context<'_>) -> Result<Vec<String>> {
    Ok(ctx.data::<Roles>()?.0.clone())
}

#[svc::mutation]
fn touch(ctx: &Context<'_>) -> Result<String> {
    user_of(ctx).ok_or_else(|| Error::internal("nobody"))
}

#[svc_type(sql_source = "v_seen")]
struct Seen {
    user: Option<String>,
}

#[svc::query]
async fn seen() -> Seen;

#[svc::mutation(function = "app.echo", context = ["user"])]
async fn echo(word: String) -> String;

const SQL: &str = "CREATE VIEW v_seen AS SELECT 1 AS id, current_setting('app.user', true) AS user;
    CREATE SCHEMA app; CREATE FUNCTION app.echo(who text, word text) RETURNS text LANGUAGE sql AS
    'SELECT who || '': '' || word'";

fn user_of(ctx: &Context<'_>) -> Option<String> {
    ctx.data::<User>().ok().map(|user| user.0.clone())
}

/// The user of the header, or what the header asks for.
async fn find_user(request: RequestContext) -> Result<User> {
    request.data::<Calls>()?.0.fetch_add(1, Ordering::Relaxed);
    match request.header("x-user") {
        Some("slow") => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok(User("late".to_owned()))
        }
        Some("unknown") => Err(
            Error::new(ErrorCode::Unauthenticated, "nobody has this name")
                .with_extension("reason", "NAME"),
        ),
        Some("away") => Err(Error::new(
            ErrorCode::ServiceUnavailable,
            "the directory is away",
        )),
        Some("broken") => Err(Error::internal("the directory answered with garbage")),
        Some("panic") => panic!("no directory"),
        Some(name) => Ok(User(name.to_owned())),
        None => Ok(User("nobody".to_owned())),
    }
}

fn options(url: &str, calls: &Arc<AtomicU32>) -> AppOptions {
    AppOptions::new()
        .database_url(url)
        .queries(queries![user, roles, seen])
        .mutations(mutations![touch, echo])
        .data(Calls(calls.clone()))
        .request_data(find_user)
        .request_data(|request| async move {
            let user = &request.data::<User>()?.0;
            Ok(Roles(vec![format!("{user}'s role")]))
        })
        .session_variables(SessionVariables::new().with("app.user", user_of))
        .context_value("user", |ctx| Ok(user_of(ctx)))
        .request_timeout(Duration::from_secs(300))
}

async fn ask(app: &App, user: &str, query: &str) -> Reply {
    let body = json!({ "query": query }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-user", user);
    app.send(request.body(body)).await
}

async fn serve() -> (App, Arc<AtomicU32>) {
    let calls = Arc::default();
    (
        App::serve(options("postgres://nobody@127.0.0.1:1/nothing", &calls)).await,
        calls,
    )
}

#[tokio::test]
async fn request_data_is_made_once_and_in_order() {
    let (app, calls) = serve().await;
    let data = ask(&app, "ada", "{ user again: user roles }").await.data();
    assert_eq!(
        data,
        json!({"user": "ada", "again": "ada", "roles": ["ada's role"]})
    );
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(
        ask(&app, "ada", "{ user(").await.code(),
        "GRAPHQL_PARSE_FAILED"
    );
    assert_eq!(
        calls.load(Ordering::Relaxed),
        1,
        "a request that is refused makes none"
    );
}

#[tokio::test]
async fn session_variables_and_context_values_read_it() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(options(&database.url(), &Arc::default())).await;
    assert_eq!(
        ask(&app, "ada", "{ seen { user } }").await.data(),
        json!({"seen": {"user": "ada"}})
    );
    let echoed = ask(&app, "ada", r#"mutation { echo(word: "hello") }"#)
        .await
        .data();
    assert_eq!(echoed, json!({"echo": "ada: hello"}));
}

#[tokio::test]
async fn an_error_of_request_data_fails_the_whole_request() {
    let (app, _) = serve().await;
    let reply = ask(&app, "unknown", "{ user roles }").await;
    assert_eq!(reply.status, 401);
    let error = json!({"message": "nobody has this name", "extensions": {"code": "UNAUTHENTICATED", "reason": "NAME"}});
    assert_eq!(reply.json(), json!({ "errors": [error] }));
    let reply = ask(&app, "away", "mutation { touch }").await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "SERVICE_UNAVAILABLE")
    );
}

#[tokio::test]
async fn internal_errors_are_masked_and_logged() {
    let log = Log::start();
    let (app, _) = serve().await;
    for (user, why) in [
        ("broken", "the directory answered with garbage"),
        ("panic", "no directory"),
    ] {
        let reply = ask(&app, user, "{ user }").await;
        assert_eq!(
            (reply.status, reply.message().as_str()),
            (500, "internal server error"),
            "{user}"
        );
        let id = reply.json()["errors"][0]["extensions"]["errorId"]
            .as_str()
            .unwrap()
            .to_owned();
        let text = log.text();
        assert!(
            text.lines()
                .any(|line| line.contains(&id) && line.contains(why)),
            "{user}: {text}"
        );
    }
}

/// Nothing has run, so also a mutation may be sent again.
#[tokio::test]
async fn slow_request_data_ends_with_the_request_timeout() {
    let options = options("postgres://nobody@127.0.0.1:1/nothing", &Arc::default());
    let app = App::serve(options.request_timeout(Duration::from_secs(1))).await;
    for query in ["{ user }", "mutation { touch }"] {
        let start = Instant::now();
        let reply = ask(&app, "slow", query).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (504, "TIMEOUT"),
            "{query}"
        );
        assert!(start.elapsed() < Duration::from_secs(100));
        assert_eq!(reply.json().get("data"), None::<&Value>);
    }
}
