//! Sessions in cookies: a small map for each browser, available as `Context::session`.

mod config;
mod cookie;
mod error;
mod keys;
mod layer;
mod memory;
#[cfg(feature = "redis")]
mod redis;
mod session;
mod store;

pub use config::{CookieProtection, SameSite, SessionConfig};
pub use error::SessionError;
pub use layer::{SessionLayer, SessionService};
pub use memory::MemorySessionStore;
#[cfg(feature = "redis")]
pub use redis::RedisSessionStore;
pub use session::{Alone, Checkpoint, Session, Together};
pub use store::SessionStore;
