//! The connection to Redis that everything shares.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError};

use crate::ConfigError;

/// The longest wait of a request for Redis, the connection included.
const PATIENCE: Duration = Duration::from_secs(1);

/// A client of Redis, or of what speaks its protocol; cheap to clone.
///
/// It has one connection for all commands, which is opened when it is needed and anew after it was lost. A command ends
/// within a second, with an answer or with an error.
///
/// ```
/// use svc::RedisClient;
///
/// let redis = RedisClient::new("redis://127.0.0.1:6379")?;
/// # Ok::<(), svc::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct RedisClient(Arc<Shared>);

struct Shared {
    client: Client,
    patience: Duration,
    /// The connection, and the number of those before it.
    current: Mutex<(u64, Option<MultiplexedConnection>)>,
    /// Held by the one that connects.
    connecting: tokio::sync::Mutex<()>,
}

/// Why a command has no answer. None of them holds a password.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("Redis did not answer in time")]
    Late,
    #[error("Redis: {0}")]
    Failed(#[source] RedisError),
}

impl RedisClient {
    /// A client, as `redis://user:password@host:port/number`, or `redis+unix:///path`.
    ///
    /// # Errors
    /// A [`ConfigError`] when the URL cannot be read.
    pub fn new(url: &str) -> Result<Self, ConfigError> {
        Self::with_timeout(url, PATIENCE)
    }

    /// A client whose commands take this time at most.
    ///
    /// # Errors
    /// A [`ConfigError`] when the URL cannot be read.
    pub fn with_timeout(url: &str, timeout: Duration) -> Result<Self, ConfigError> {
        // What the crate says of it may quote the password.
        let allowed = "it must be redis://user:password@host:port/number or redis+unix:///path";
        let client = Client::open(url).map_err(|_| ConfigError::new("the URL of Redis", "***", allowed))?;
        let (current, connecting) = (Mutex::new((0, None)), tokio::sync::Mutex::new(()));
        Ok(Self(Arc::new(Shared { client, patience: timeout, current, connecting })))
    }

    /// Sends a command that may be sent once more where the connection was lost before.
    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, CommandError> {
        let mut used = 0;
        let answer = tokio::time::timeout(self.0.patience, self.try_query(command, &mut used)).await;
        let error = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => CommandError::Failed(error),
            Err(_) => CommandError::Late,
        };
        // A connection that does not answer is given up: the next command opens another.
        let is_answer = matches!(&error, CommandError::Failed(error) if error.code().is_some());
        if !is_answer {
            self.give_up(used);
        }
        Err(error)
    }

    async fn try_query<T: FromRedisValue>(&self, command: &Cmd, used: &mut u64) -> Result<T, RedisError> {
        let (number, mut connection) = self.connection().await?;
        *used = number;
        match command.query_async(&mut connection).await {
            // It had died while nobody used it.
            Err(error) if error.is_connection_dropped() || error.is_io_error() => {
                self.give_up(number);
                let (number, mut connection) = self.connection().await?;
                *used = number;
                command.query_async(&mut connection).await
            }
            answer => answer,
        }
    }

    async fn connection(&self) -> Result<(u64, MultiplexedConnection), RedisError> {
        if let Some(found) = self.current() {
            return Ok(found);
        }
        let _turn = self.0.connecting.lock().await;
        // Whoever had the turn before may have connected.
        if let Some(found) = self.current() {
            return Ok(found);
        }
        let patience = Some(self.0.patience);
        let config = AsyncConnectionConfig::new().set_connection_timeout(patience).set_response_timeout(patience);
        let connection = self.0.client.get_multiplexed_async_connection_with_config(&config).await?;
        let mut current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = (current.0 + 1, Some(connection.clone()));
        Ok((current.0, connection))
    }

    fn current(&self) -> Option<(u64, MultiplexedConnection)> {
        let current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.1.clone().map(|connection| (current.0, connection))
    }

    /// Forgets a connection, unless there is a newer one.
    fn give_up(&self, number: u64) {
        let mut current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 == number {
            current.1 = None;
        }
    }
}

/// Shows nothing of the URL, which may hold a password.
impl std::fmt::Debug for RedisClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisClient").field("patience", &self.0.patience).finish_non_exhaustive()
    }
}
