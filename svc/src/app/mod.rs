//! Assembling and serving an application.

mod accounts_config;
#[cfg(feature = "auth")]
mod api_keys;
mod authentication;
mod config;
mod create;
mod database_config;
mod describe;
mod error;
mod http_config;
mod lists;
#[cfg(feature = "logging")]
mod logging;
#[cfg(feature = "native-auth")]
mod native_accounts;
mod open_operations;
mod options;
mod serve;
#[cfg(feature = "auth")]
mod user_database;
#[cfg(feature = "auth")]
mod user_loader;

#[cfg(test)]
mod tests;

pub use accounts_config::AccountsConfig;
#[cfg(feature = "auth")]
pub use api_keys::ApiKeys;
pub use config::{Environment, OperationsConfig, SchemaConfig, SvcConfig};
pub use create::create_svc_app;
pub use database_config::DatabaseConfig;
pub use error::StartError;
pub use http_config::HttpConfig;
pub use lists::{MutationList, QueryList, TypeList};
pub use options::AppOptions;
pub use serve::{Server, serve};
#[cfg(feature = "auth")]
pub use user_loader::AuthenticatedUser;

#[cfg(feature = "auth")]
use {user_database::UserDatabase, user_loader::UserLoader};
