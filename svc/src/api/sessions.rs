//! Sessions in cookies: a small map for each browser, available as
//! [`Context::session`](crate::Context::session).
//!
//! [`SessionLayer`] wraps the router. The values of a session are stored in the cookie itself,
//! encrypted or signed, or in a [`SessionStore`]: in memory, or in Redis.
//!
//! ```
//! use svc::prelude::*;
//! use svc::sessions::{SessionConfig, SessionLayer};
//!
//! #[svc::mutation]
//! fn choose_language(ctx: &Context<'_>, language: String) -> Result<bool> {
//!     ctx.session()?.insert("language", &language)?;
//!     Ok(true)
//! }
//!
//! # fn with_sessions(app: svc::axum::Router, secret: &str) -> Result<svc::axum::Router, svc::ConfigError> {
//! let sessions = SessionLayer::new(SessionConfig::new(secret))?;
//! # Ok(
//! app.layer(sessions)
//! # ) }
//! ```

#[cfg(feature = "redis")]
#[doc(inline)]
pub use svc_auth::sessions::RedisSessionStore;
#[doc(inline)]
pub use svc_auth::sessions::{
    CookieProtection, MemorySessionStore, SameSite, Session, SessionConfig, SessionError,
    SessionLayer, SessionService, SessionStore,
};
