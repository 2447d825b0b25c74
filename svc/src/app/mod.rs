//! Assembling and serving an application.

mod accounts_config;
#[cfg(feature = "auth")]
mod api_keys;
mod authentication;
mod config;
mod create;
mod database_config;
mod describe;
mod environment_notes;
mod error;
mod event_hub;
mod events_config;
mod http_config;
#[cfg(feature = "logging")]
mod json_log;
mod lists;
#[cfg(feature = "logging")]
mod logging;
mod metrics;
#[cfg(feature = "native-auth")]
mod native_accounts;
mod open_operations;
mod options;
mod policies;
mod protection;
mod protection_config;
mod rate_limits;
mod redis_config;
mod response_cache;
mod root_fields;
mod row_rules;
mod serve;
#[cfg(feature = "redis")]
mod shared_redis;
mod traces;
mod unused_settings;
#[cfg(not(feature = "upload"))]
mod uploads;
#[cfg(feature = "auth")]
mod user_database;
#[cfg(feature = "auth")]
mod user_loader;
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, dead_code, reason = "tests of programs check views")
)]
mod view_check;

#[cfg(test)]
mod tests;

pub use accounts_config::AccountsConfig;
#[cfg(feature = "auth")]
pub use api_keys::ApiKeys;
pub use config::{Environment, OperationsConfig, SchemaConfig, SvcConfig};
#[cfg(any(feature = "testing", test, fuzzing))]
pub(crate) use create::assemble;
pub use create::create_svc_app;
pub use database_config::DatabaseConfig;
pub use error::StartError;
pub use events_config::EventsConfig;
pub use http_config::HttpConfig;
pub use lists::{MutationList, QueryList, SubscriptionList, TypeList};
pub use metrics::setup_metrics;
pub use options::AppOptions;
pub use protection_config::ProtectionConfig;
pub use redis_config::RedisConfig;
pub use root_fields::{Mutation, Query, RootField, Subscription};
#[cfg(unix)]
use serve::FirstProcess;
pub use serve::{Server, serve};
pub use traces::setup_tracing;
#[cfg(feature = "auth")]
pub use user_loader::AuthenticatedUser;
#[cfg(feature = "testing")]
pub use view_check::check_views;

#[cfg(feature = "auth")]
use {user_database::UserDatabase, user_loader::UserLoader};
