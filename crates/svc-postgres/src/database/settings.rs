//! The settings of the pools.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::connect::ConnectConfig;
use crate::driver::Bounds;
use crate::{RowSecurity, SchemaVersion};

/// The minimum and maximum time from the `statement_timeout` in PostgreSQL to the deadline of a
/// statement. Between them, it is a tenth of the time-out.
const MARGIN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];

/// The settings of the pools.
#[derive(Debug)]
pub struct Settings {
    pub connect: ConnectConfig,
    pub max_connections: u32,
    pub acquire_timeout: Duration,
    pub statement_timeout: Duration,
    /// Bytes of SQL that a connection for planned reads keeps prepared.
    pub statement_cache: usize,
    /// Whether sessions are reset after writes; `None` resets them only if functions may leave
    /// lasting effects.
    pub reset_session: Option<bool>,
    /// How often a transaction is retried that PostgreSQL has rolled back because of concurrent
    /// ones.
    pub retries: u32,
    /// The maximum number of connections that one request uses at the same time; half of the pool
    /// by default.
    pub connections_of_one: Option<u32>,
    /// The time between two checks for changes of views or functions; `None` disables them.
    pub catalogue_poll: Option<Duration>,
    /// The schema version, if responses are cached: everything that decides the rows of reads is
    /// then tracked.
    pub schema_version: Option<Arc<SchemaVersion>>,
    /// The configuration of the role that runs the set-up, if it is not the service's own.
    pub owner: Option<ConnectConfig>,
    /// Run once, when the database is first reached.
    pub setup: Option<Cow<'static, str>>,
    /// Whether policies are checked.
    pub row_security: RowSecurity,
    /// Whether access rules of the application may hide rows.
    pub hides_rows: bool,
    /// Whether clients see why the database cannot be used.
    pub tells_reason: bool,
}

impl Settings {
    /// Returns the time to wait for the response to a statement. PostgreSQL cancels the statement
    /// earlier, if it can.
    fn deadline(&self) -> Duration {
        self.statement_timeout
            .saturating_add((self.statement_timeout / 10).clamp(MARGIN[0], MARGIN[1]))
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            size: self.max_connections,
            acquire_timeout: self.acquire_timeout,
            deadline: self.deadline(),
        }
    }
}
