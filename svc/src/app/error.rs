//! Errors that prevent an application from starting.

use svc_core::schema::SchemaError;
use svc_core::settings::ConfigError;
use svc_engine::graphql::OperationError;

/// A reason for an application not to start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no database URL.
    #[error(
        "no database is set; set SVC_DATABASE_URL (postgres://user@host/name), or call `.database_url(…)`, \
         or start an embedded one with the feature `embedded`"
    )]
    NoDatabase,
    /// The local socket that sqlx uses to reach the database cannot be opened.
    #[error(
        "cannot open a local socket for connections to the database: {0}; let the program write to TMPDIR"
    )]
    Proxy(#[source] std::io::Error),
    /// The embedded database does not start.
    #[cfg(feature = "embedded")]
    #[error("the embedded database does not start: {0}")]
    Embedded(#[from] svc_embedded::Error),
    /// Authentication is not safe enough for production.
    #[cfg(feature = "auth")]
    #[error("{0}; SVC_ENVIRONMENT is production, where the service does not start with that")]
    WeakAuthentication(String),
    /// The identity provider's settings cannot be used.
    #[cfg(feature = "idp")]
    #[error("SVC_AUTH_PROVIDER is idp, and {0}")]
    Idp(#[from] svc_auth::IdpError),
    /// The settings of native accounts cannot be used.
    #[cfg(feature = "native-auth")]
    #[error("SVC_AUTH_PROVIDER is native, and {0}")]
    Accounts(#[from] svc_auth::accounts::NativeAuthError),
    /// The schema cannot be served.
    #[error("the schema has {} {}:\n{}", .0.len(), if .0.len() == 1 { "error" } else { "errors" }, list(.0))]
    Schema(Vec<SchemaError>),
    /// A row policy, a mask or the row of a mutation cannot be applied; with the reason and its
    /// fix.
    #[error("{0}")]
    RowPolicy(String),
    /// Operations cannot be registered.
    #[error("{} cannot be registered:\n{}", if .0.len() == 1 { "an operation" } else { "operations" }, list(.0))]
    Operations(Vec<OperationError>),
    /// Policies of row-level security do not bind the service, which sets session variables for
    /// them; each with its fix.
    #[error(
        "row-level security does not bind the service, which sets session variables for it:\n{}\nset \
         SVC_ALLOW_UNBOUND_POLICIES=true if that is meant", list(.0)
    )]
    UnboundPolicies(Vec<String>),
    /// The description requested by the CLI `svc` cannot be written to its file.
    #[error(
        "cannot write the description to {file}: {source}; unset SVC_DESCRIBE, which only the tool svc sets"
    )]
    Describe {
        /// The file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The signal handlers cannot be installed.
    #[error(
        "cannot listen to signals: {source}; let the program have more threads or open files (`ulimit -u`, `ulimit -n`)"
    )]
    Signals {
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The address of metrics cannot be bound.
    #[error(
        "cannot serve metrics on {address}: {source}; set SVC_METRICS_ADDR to an address that is free"
    )]
    BindMetrics {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The address cannot be bound.
    #[error(
        "cannot listen on {address}: {source}; set SVC_HOST and SVC_PORT to an address that is free"
    )]
    Bind {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

fn list<E: std::fmt::Display>(errors: &[E]) -> String {
    errors
        .iter()
        .map(|error| format!("  - {error}"))
        .collect::<Vec<_>>()
        .join("\n")
}
