//! Assembling and serving an application.

mod config;
mod create;
mod describe;
mod environment;
mod error;
mod lists;
#[cfg(feature = "logging")]
mod logging;
mod options;
mod root_fields;
mod serve;
mod setup;
mod telemetry;
#[cfg(test)]
mod tests;
#[cfg(feature = "auth")]
mod users;

pub use config::{
    AccountsConfig, DatabaseConfig, Environment, EventsConfig, HttpConfig, OperationsConfig,
    ProtectionConfig, RedisConfig, SchemaConfig, SvcConfig,
};
#[cfg(any(feature = "testing", test, fuzzing))]
pub(crate) use create::assemble;
pub use create::create_svc_app;
pub use error::StartError;
pub use lists::{MutationList, QueryList, SubscriptionList, TypeList};
pub use options::AppOptions;
pub use root_fields::{Mutation, Query, RootField, Subscription};
#[cfg(unix)]
use serve::FirstProcess;
pub use serve::{Server, serve};
#[cfg(feature = "testing")]
pub use setup::check_views;
pub use telemetry::{setup_metrics, setup_tracing};
#[cfg(feature = "auth")]
pub use users::{ApiKeys, AuthenticatedUser};
#[cfg(feature = "auth")]
use users::{UserDatabase, UserLoader};
