//! The routes of native accounts, and their responses.

mod body;
mod handlers;
mod identify;
mod reply;
mod token;

use axum::Router;
use axum::routing::{delete, get, post};

pub use identify::identify_users;

use super::NativeAuthProvider;

/// Returns the routes of native accounts, to be nested under `/auth`.
///
/// | Route | Request | Answer |
/// |---|---|---|
/// | `POST /register` | `username`, `password`, `email` | 201, `user` and tokens |
/// | `POST /login` | `username`, `password` | tokens |
/// | `POST /refresh` | `refresh_token` | tokens |
/// | `POST /logout` | access token | ends the session |
/// | `POST /logout-all` | access token | ends all sessions |
/// | `GET /me` | access token | `user` |
/// | `DELETE /me` | access token, `password` | deletes the account |
/// | `GET /sessions` | access token | `sessions` |
/// | `DELETE /sessions/{id}` | access token | ends that session |
/// | `POST /password` | access token, `current_password`, `new_password` | tokens; all other sessions end |
/// | `POST /password/forgot` | `email` | 202, whether there is such an account or not |
/// | `POST /password/reset` | `token`, `password` | sets the password; all sessions end |
/// | `POST /email/verification` | access token | 202, mails a token |
/// | `POST /email/verify` | `token` | notes that the address is verified |
///
/// The routes for mailed tokens exist only if the provider has a
/// [mailer](super::NativeAuthFactory::mailer). Every rejection is `{error, message}`.
pub fn create_auth_router(provider: &NativeAuthProvider) -> Router {
    let router = Router::new()
        .route("/register", post(handlers::register))
        .route("/login", post(handlers::login))
        .route("/refresh", post(handlers::refresh))
        .route("/logout", post(handlers::logout))
        .route("/logout-all", post(handlers::logout_all))
        .route("/me", get(handlers::me).delete(handlers::delete_me))
        .route("/sessions", get(handlers::sessions))
        .route("/sessions/{id}", delete(handlers::end_session))
        .route("/password", post(handlers::change_password));

    let router = if provider.0.mailer.is_some() {
        router
            .route("/password/forgot", post(handlers::forgot_password))
            .route("/password/reset", post(handlers::reset_password))
            .route("/email/verification", post(handlers::send_verification))
            .route("/email/verify", post(handlers::verify_email))
    } else {
        router
    };

    router.with_state(provider.clone())
}
