//! Users from the application's database: by API key, or completed by the application.

mod api_keys;
mod database;
mod loader;

pub use api_keys::ApiKeys;
pub(super) use database::UserDatabase;
pub use loader::AuthenticatedUser;
pub(super) use loader::UserLoader;
