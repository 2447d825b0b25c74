//! The schema `svc_auth` and its functions.

mod attempts;
mod mailed;
mod networks;
mod revocations;
mod sessions;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;

pub(super) use mailed::Recipient;
pub(super) use networks::Visit;
pub use revocations::PostgresRevocationStore;
pub use sessions::Session;
pub(super) use sessions::{BegunSession, EndedSessions, NewSession, Rotation, SessionIds};

use super::AccountError;
use svc_core::ConfigError;
use svc_core::settings::variable;
use svc_postgres::{Bounds, ConnectConfig, DbError, Routines, StatementText};

/// The SQL that creates the schema `svc_auth`. Run it as an owner other than the role of the
/// service; it can be run repeatedly. `SELECT svc_auth.allow('role')` lets the service's role use
/// it.
pub const MIGRATION: &str = include_str!("migration.sql");

/// The timeout for acquiring a connection, and for a result.
const PATIENCE: Duration = Duration::from_secs(5);

/// The database for accounts, their sessions and the data that protects them; cheap to clone.
///
/// It has a few separate connections, opened on demand, so that log-ins do not take connections
/// from queries.
#[derive(Debug, Clone)]
pub struct AccountDatabase(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    routines: OnceLock<Routines>,
    most: u32,
}

/// The default maximum number of connections.
const CONNECTIONS: u32 = 8;

impl AccountDatabase {
    /// A database at `postgres://user:password@host:port/name`, with at most eight connections.
    ///
    /// # Errors
    /// A [`ConfigError`] if the URL cannot be parsed.
    pub fn new(url: &str) -> Result<Self, ConfigError> {
        Self::with_connections(url, CONNECTIONS)
    }

    /// A database with at most this many connections.
    ///
    /// # Errors
    /// A [`ConfigError`] if the URL cannot be parsed.
    pub fn with_connections(url: &str, most: u32) -> Result<Self, ConfigError> {
        let connect = ConnectConfig::parse(url, &variable).map_err(|bad| {
            ConfigError::new("the URL of the accounts' database", "***", &bad.to_string())
        })?;
        let database = Self::unbound(most);
        database.bind(&connect);
        Ok(database)
    }

    /// The database of the application, set through `AppOptions::accounts`. Log-ins fail until the
    /// application is created.
    pub fn of_application() -> Self {
        Self::unbound(CONNECTIONS)
    }

    fn unbound(most: u32) -> Self {
        Self(Arc::new(Shared {
            routines: OnceLock::new(),
            most: most.max(1),
        }))
    }

    /// Sets the address of the database, unless it is already set.
    #[doc(hidden)]
    pub fn bind(&self, connect: &ConnectConfig) {
        let bounds = Bounds {
            size: self.0.most,
            acquire_timeout: PATIENCE,
            deadline: PATIENCE,
        };
        self.0
            .routines
            .get_or_init(|| Routines::new(connect, bounds));
    }

    /// Whether the other one is a clone of this database, with the same connections.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn routines(&self) -> Result<&Routines, AccountError> {
        let missing = "no database is known; give the `AccountDatabase` to `AppOptions::accounts`";
        self.0
            .routines
            .get()
            .ok_or_else(|| AccountError::unavailable(missing))
    }

    pub(super) async fn read(
        &self,
        function: &StatementText,
        args: Vec<Value>,
    ) -> Result<Value, AccountError> {
        self.routines()?
            .read(function, args)
            .await
            .map_err(unavailable)
    }

    pub(super) async fn write(
        &self,
        function: &StatementText,
        args: Vec<Value>,
    ) -> Result<Value, AccountError> {
        self.routines()?
            .write(function, args)
            .await
            .map_err(unavailable)
    }
}

/// The schema of accounts is missing, is older than the program, or is not accessible to the
/// service.
#[derive(Debug, thiserror::Error)]
#[error(
    "the schema svc_auth cannot be used; run `svc::accounts::MIGRATION` as its owner, and `SELECT svc_auth.allow(…)` for \
     the role of the service"
)]
struct NoSchema(#[source] DbError);

fn unavailable(error: DbError) -> AccountError {
    if error.is_of_missing_function() {
        AccountError::unavailable(NoSchema(error))
    } else {
        AccountError::unavailable(error)
    }
}

/// The calls of functions, each by its name.
macro_rules! functions {
    ($($name:ident: $sql:literal;)+) => {
        $(
            static $name: std::sync::LazyLock<svc_postgres::StatementText> =
                std::sync::LazyLock::new(|| concat!("SELECT svc_auth.", $sql, "::text").into());
        )+
    };
}
pub(super) use functions;
