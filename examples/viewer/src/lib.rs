//! Notes of whoever asks. Run with `cargo run -p viewer`, and send the header `x-user`.
//!
//! A tower layer finds out who asks and puts the viewer into the request's extensions. From there a
//! resolver reads it, PostgreSQL gets it as a session variable, and a function of the database as
//! an argument. A layer that checks tokens takes the place of this one without any other change.

use svc::axum::Router;
use svc::axum::extract::Request;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::response::Response;
use svc::db::SessionVariables;
use svc::embedded;
use svc::prelude::*;

/// The user who asks.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// The name of the user.
    pub user_id: String,
}

/// A note of the viewer.
#[svc_type(sql_source = "v_note")]
pub struct Note {
    /// Its number.
    pub id: i32,
    /// The text.
    pub body: String,
}

/// The notes of the viewer: the view compares its rows with the session variable.
#[svc::query]
pub async fn notes() -> Vec<Note>;

/// The name of the viewer, if there is one.
#[svc::query]
pub fn viewer(ctx: &Context<'_>) -> Option<String> {
    ctx.extension::<Viewer>()
        .map(|viewer| viewer.user_id.clone())
}

/// Adds a note of the viewer, and returns its number.
#[svc::mutation(function = "app.add_note", context = ["user_id"])]
pub async fn add_note(body: String) -> i32;

/// The notes with the settings of the environment. Unless they name a database, it runs an embedded
/// one in `.svc/viewer`.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    Ok(with_notes(
        AppOptions::from_env()?.embedded_database(embedded::Options::new(".svc/viewer")),
    ))
}

/// Adds the schema to options that say where the database is.
pub fn with_notes(options: AppOptions) -> AppOptions {
    options
        .setup_sql(include_str!("schema.sql"))
        .queries(queries![notes, viewer])
        .mutations(mutations![add_note])
        .session_variables(SessionVariables::new().with("app.user_id", user_id))
        .context_value("user_id", |ctx| {
            let user_id = user_id(ctx)
                .ok_or_else(|| Error::new(ErrorCode::Unauthenticated, "log in to write notes"))?;
            Ok(Some(user_id))
        })
}

fn user_id(ctx: &Context<'_>) -> Option<String> {
    ctx.extension::<Viewer>()
        .map(|viewer| viewer.user_id.clone())
}

/// Adds the layer that finds out who asks. The header is the client's word, so a gateway in front
/// has to set it.
pub fn with_viewer(app: Router) -> Router {
    app.layer(from_fn(identify))
}

async fn identify(mut request: Request, next: Next) -> Response {
    let user = request
        .headers()
        .get("x-user")
        .and_then(|user| user.to_str().ok())
        .map(str::to_owned);

    if let Some(user_id) = user {
        request.extensions_mut().insert(Viewer { user_id });
    }

    next.run(request).await
}
