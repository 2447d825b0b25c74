//! Values of the user that PostgreSQL sees.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::service::{posting, provider};
use super::token::{USER, token};

#[svc_type(sql_source = "v_variable")]
struct Variable {
    id: i32,
    user_id: String,
    tenant: String,
    level: String,
    language: String,
}

#[svc::query]
async fn variables() -> Vec<Variable>;

#[svc::query]
fn computed(ctx: &Context<'_>) -> bool {
    ctx.user().is_some()
}

#[svc::mutation(function = "acting_user", context = ["user_id", "tenant"])]
async fn acting_user() -> String;

const SCHEMA: &str = "
    CREATE VIEW v_variable AS SELECT 1 AS id, current_setting('app.user_id') AS user_id,
        current_setting('app.tenant_id') AS tenant, current_setting('app.level') AS level,
        current_setting('app.language') AS language, '{}'::jsonb AS data;
    CREATE FUNCTION acting_user(user_id text, tenant text) RETURNS jsonb LANGUAGE sql AS
        $$ SELECT to_jsonb(coalesce(user_id, 'nobody') || ' of ' || coalesce(tenant, 'nothing')) $$;";

async fn serve(database: &TestDatabase) -> App {
    let variables = SessionVariables::new()
        .user_id("app.user_id")
        .header("app.tenant_id", "x-tenant-id")
        .claim("app.tenant_id", "tenant")
        .claim("app.level", "/rank/level")
        .header("app.language", "accept-language");
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![variables, computed]);
    let options = options
        .mutations(mutations![acting_user])
        .session_variables(variables)
        .auth_provider(provider());
    let options = options.context_value("user_id", |ctx| {
        Ok(ctx.user().map(|user| user.user_id.clone()))
    });
    App::serve(options.context_value("tenant", |ctx| {
        Ok(ctx.user().and_then(|user| user.claim("tenant")))
    }))
    .await
}

/// The answer to a request that says by a header that it is of the tenant `forged`.
async fn ask(app: &App, token: Option<&str>, document: &str) -> Value {
    let request = posting(app, document)
        .header("x-tenant-id", "forged")
        .header("accept-language", "de");
    app.send(
        token
            .into_iter()
            .fold(request, reqwest::RequestBuilder::bearer_auth),
    )
    .await
    .data()
}

const VARIABLES: &str = "{ variables { user_id tenant level language } }";

#[tokio::test]
async fn claims_of_the_user_take_precedence_over_headers() {
    let database = TestDatabase::new(SCHEMA).await;
    let app = serve(&database).await;
    let full = token(json!({ "tenant": "acme", "rank": { "level": 7 } }));
    let row = |user: &str, tenant: &str, level: &str| json!({ "variables": [{ "user_id": user, "tenant": tenant, "level": level, "language": "de" }] });
    assert_eq!(
        ask(&app, Some(&full), VARIABLES).await,
        row(USER, "acme", "7")
    );
    // A user without the claim has no tenant, and does not get to choose one.
    assert_eq!(
        ask(
            &app,
            Some(&token(json!({ "rank": { "level": [] } }))),
            VARIABLES
        )
        .await,
        row(USER, "", "")
    );
    // For nobody the header is all there is.
    assert_eq!(ask(&app, None, VARIABLES).await, row("", "forged", ""));
    assert_eq!(
        ask(&app, Some("nonsense"), VARIABLES).await,
        row("", "forged", "")
    );
}

#[tokio::test]
async fn functions_see_the_session_variables_of_the_user() {
    let database = TestDatabase::new(SCHEMA).await;
    let app = serve(&database).await;
    let acme = token(json!({ "tenant": "acme" }));
    let acts =
        async |token| ask(&app, token, "mutation { acting_user }").await["acting_user"].clone();
    assert_eq!(acts(Some(&acme)).await, format!("{USER} of acme"));
    assert_eq!(acts(None).await, "nobody of nothing");
}
