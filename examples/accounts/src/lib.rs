//! Accounts with names and passwords. Run with `SVC_AUTH_SECRET_KEY=… cargo run -p accounts`, and
//! open <http://127.0.0.1:8000/>.
//!
//! The routes of svc are below `/auth`. `POST /logout` and `POST /logout-all` are the application's
//! own: they show how a program ends sessions. The page registers, logs in, asks the guarded query
//! `me`, and logs out. New passwords have at least 15 characters, and are not in a list of breached
//! ones.

use std::error::Error as StdError;

use svc::accounts::{
    AccountDatabase, BreachedPasswords, MIGRATION, NativeAuthFactory, NativeAuthProvider,
    PasswordRules, PostgresUserRepository, create_auth_router,
};
use svc::auth::AuthError;
use svc::axum::extract::State;
use svc::axum::http::{HeaderMap, StatusCode, header};
use svc::axum::response::{Html, IntoResponse, Response};
use svc::axum::routing::{get, post};
use svc::axum::{Json, Router};
use svc::embedded;
use svc::prelude::*;
use svc::serde_json::json;

/// The user who asks.
#[svc_type]
pub struct Me {
    /// The identifier.
    pub user_id: String,
    /// The name.
    pub name: Option<String>,
    /// The address of mail.
    pub email: Option<String>,
}

/// The user who asks; nobody else may.
#[svc::query]
pub fn me(ctx: &Context<'_>) -> Result<Me> {
    let user = ctx.require_user()?;
    Ok(Me {
        user_id: user.user_id.clone(),
        name: user.name.clone(),
        email: user.email.clone(),
    })
}

/// A list of breached passwords. A service would look in a large file or table, or query a service
/// with the first digits of the password's hash.
struct Breached;

impl BreachedPasswords for Breached {
    async fn contains(&self, password: &str) -> Result<bool, Box<dyn StdError + Send + Sync>> {
        Ok(include_str!("breached.txt")
            .lines()
            .any(|breached| breached == password))
    }
}

/// The options of the environment. Unless they name a database, the program runs an embedded one in
/// `.svc/accounts`, whose requests run as a role that cannot read the hashes of passwords.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    let embedded = embedded::Options::new(".svc/accounts").role("accounts_service");
    Ok(AppOptions::from_env()?
        .embedded_database(embedded)
        .setup_sql(MIGRATION))
}

/// The whole application: GraphQL, the routes of accounts, and the page.
///
/// # Errors
/// A setting that is wrong, or a secret that cannot be one.
pub async fn app(options: AppOptions, secret: &str) -> Result<Router> {
    let database = AccountDatabase::of_application();
    let users = PostgresUserRepository::new(&database);
    let (access, refresh) = (
        NativeAuthFactory::ACCESS_TOKEN_TTL,
        NativeAuthFactory::REFRESH_TOKEN_TTL,
    );

    // As the password is the only factor (NIST SP 800-63B-4, section 3.1.1.2).
    let mut rules = PasswordRules::default();
    rules.min_length = 15;
    let native = NativeAuthFactory::new(&database)
        .password_rules(rules)
        .context_words(["accounts example"])
        .breached_passwords(Breached)
        .create_provider(users, secret, access, refresh)?;
    let options = options
        .queries(queries![me])
        .accounts(&database)
        .auth_provider(native.clone());
    let own = Router::new()
        .route("/", get(async || Html(include_str!("page.html"))))
        .route("/logout", post(logout))
        .route("/logout-all", post(logout_all))
        .with_state(native.clone());

    Ok(create_svc_app(options)
        .await?
        .nest("/auth", create_auth_router(&native))
        .merge(own))
}

async fn logout(State(native): State<NativeAuthProvider>, headers: HeaderMap) -> Response {
    answer(&native.logout(bearer(&headers)).await, "logged out")
}

async fn logout_all(State(native): State<NativeAuthProvider>, headers: HeaderMap) -> Response {
    let ended = async {
        let user = native.verify(bearer(&headers)).await?;
        native
            .logout_all_sessions(user.user_id.parse().map_err(AuthError::unavailable)?)
            .await
    };
    answer(&ended.await, "logged out everywhere")
}

fn bearer(headers: &HeaderMap) -> &str {
    let value = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default()
}

fn answer(ended: &Result<(), AuthError>, done: &str) -> Response {
    let (status, message) = match ended {
        Ok(()) => (StatusCode::OK, done),
        Err(AuthError::Unavailable(_)) => (StatusCode::SERVICE_UNAVAILABLE, "try again later"),
        Err(_) => (StatusCode::UNAUTHORIZED, "the token is not valid"),
    };
    (status, Json(json!({ "message": message }))).into_response()
}
