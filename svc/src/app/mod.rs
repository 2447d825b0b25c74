//! Assembling and serving an application.

mod config;
mod create;
mod error;
mod http_config;
mod limits;
mod lists;
mod logging;
mod options;
mod serve;

#[cfg(test)]
mod tests;

pub use config::{Environment, SvcConfig};
pub use create::create_svc_app;
pub use error::{ConfigError, StartError};
pub use http_config::HttpConfig;
pub use lists::{MutationList, QueryList, TypeList};
pub use options::AppOptions;
pub use serve::{Server, serve};

pub(crate) use serve::ShuttingDown;
