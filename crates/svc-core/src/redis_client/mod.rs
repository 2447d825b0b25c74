//! The shared connection to Redis.

mod outage;
mod script;
mod server;
#[cfg(feature = "tls")]
mod tls;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, RedisError};

use server::{Connection, Server};

pub use outage::Outage;
pub use script::Script;

use crate::ConfigError;
use crate::settings::use_value;

/// The maximum time that a request waits for Redis, including connecting.
const PATIENCE: Duration = Duration::from_secs(1);
/// The name of the URL in errors.
const URL: &str = "the URL of Redis";

/// A client of Redis, or of a server with the same protocol; cheap to clone.
///
/// It uses one connection for all commands, which is opened on demand, and again if it was lost. A
/// command completes or fails within a second.
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
    server: Server,
    patience: Duration,
    /// The connection, and its number.
    current: Mutex<(u64, Option<Connection>)>,
    /// Locked while connecting.
    connecting: tokio::sync::Mutex<()>,
}

/// An error of a command. None of them contains a password.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("Redis did not answer in time")]
    Late,
    #[error("Redis: {0}")]
    Failed(#[source] RedisError),
}

impl CommandError {
    /// Whether Redis has answered with an error, which has a code.
    fn is_answer(&self) -> bool {
        matches!(self, Self::Failed(error) if error.code().is_some())
    }
}

impl RedisClient {
    /// Creates a client for `redis://user:password@host:port/number` or `redis+unix:///path`. With
    /// the feature `tls`, `rediss://` uses TLS; a public authority must have signed the certificate
    /// for the host's name.
    ///
    /// # Errors
    /// Returns a [`ConfigError`] if the URL is invalid.
    pub fn new(url: &str) -> Result<Self, ConfigError> {
        Self::with_timeout(url, PATIENCE)
    }

    /// Creates a client whose commands take at most this time.
    ///
    /// # Errors
    /// Returns a [`ConfigError`] if the URL is invalid.
    pub fn with_timeout(url: &str, timeout: Duration) -> Result<Self, ConfigError> {
        // The URL may contain a password, so the error does not quote it.
        let server = Server::parse(url).map_err(|allowed| ConfigError::new(URL, "***", allowed))?;
        use_value("SVC_REDIS_URL", url);
        Ok(Self::of(server, timeout))
    }

    /// Trusts these authorities, as PEM, instead of the public ones: one of them must have signed
    /// the server's certificate.
    ///
    /// # Errors
    /// Returns a [`ConfigError`] if they cannot be read, or if the URL does not start with
    /// `rediss://`.
    #[cfg(feature = "tls")]
    pub fn root_certificates(self, pem: &str) -> Result<Self, ConfigError> {
        let Server::Encrypted(encryption) = &self.0.server else {
            return Err(ConfigError::new(
                URL,
                "***",
                "it must begin with rediss:// where root certificates are given",
            ));
        };

        let trusting = encryption.trusting(pem.as_bytes()).map_err(|why| {
            let allowed = format!("they must be certificates as PEM: {why}");
            ConfigError::new("the root certificates of Redis", "***", &allowed)
        })?;

        Ok(Self::of(Server::Encrypted(trusting), self.0.patience))
    }

    fn of(server: Server, patience: Duration) -> Self {
        let (current, connecting) = (Mutex::new((0, None)), tokio::sync::Mutex::new(()));
        Self(Arc::new(Shared {
            server,
            patience,
            current,
            connecting,
        }))
    }

    /// Sends a command, which may be sent again if the connection was lost before.
    #[doc(hidden)]
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, CommandError> {
        self.query_within(command, self.0.patience).await
    }

    /// Like [`query`](Self::query), with another time limit if that is shorter.
    #[doc(hidden)]
    pub async fn query_within<T: FromRedisValue>(
        &self,
        command: &Cmd,
        bound: Duration,
    ) -> Result<T, CommandError> {
        // Outside of the future, so that the number is known after a time-out too. Connections
        // count from 1.
        let mut used = 0;
        let bound = bound.min(self.0.patience);
        let answer = tokio::time::timeout(bound, self.try_query(command, &mut used)).await;
        let error = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => CommandError::Failed(error),
            Err(_) => CommandError::Late,
        };

        // A connection without an answer is discarded, and the next command opens another.
        if !error.is_answer() {
            self.give_up(used);
        }

        Err(error)
    }

    /// Listens to channels on a separate connection, and returns their messages, each with its
    /// channel. The stream ends with the connection.
    #[doc(hidden)]
    pub async fn listen(
        &self,
        channels: &[String],
    ) -> Result<impl Stream<Item = (String, String)> + Send + use<>, CommandError> {
        // In the protocol RESP2, a connection with subscriptions accepts no other commands.
        let listening = async {
            let mut listening = self.0.server.listen().await?;
            listening.subscribe(channels).await?;
            Ok(listening.into_on_message())
        };

        let messages = tokio::time::timeout(self.0.patience, listening)
            .await
            .map_err(|_| CommandError::Late)?;
        let messages = messages.map_err(CommandError::Failed)?;
        Ok(messages.filter_map(async |message| {
            // A message that is not text comes from another program on the same channel.
            let payload: String = message.get_payload().ok()?;
            Some((message.get_channel_name().to_owned(), payload))
        }))
    }

    async fn try_query<T: FromRedisValue>(
        &self,
        command: &Cmd,
        used: &mut u64,
    ) -> Result<T, RedisError> {
        let (number, mut connection) = self.connection().await?;

        // Recorded first, because the time limit may end this future at the next `await`.
        *used = number;

        match connection.query(command).await {
            // The connection was closed while it was idle.
            Err(error) if error.is_connection_dropped() || error.is_io_error() => {
                self.give_up(number);
                let (number, mut connection) = self.connection().await?;
                *used = number;
                connection.query(command).await
            }
            answer => answer,
        }
    }

    async fn connection(&self) -> Result<(u64, Connection), RedisError> {
        if let Some(found) = self.current() {
            return Ok(found);
        }

        // If a connection is lost, all waiting requests would otherwise open one each.
        let _turn = self.0.connecting.lock().await;

        // Another task may have connected meanwhile.
        if let Some(found) = self.current() {
            return Ok(found);
        }

        // The client's default of 500 ms for a response may be shorter than the configured time.
        let patience = Some(self.0.patience);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(patience)
            .set_response_timeout(patience);
        let connection = self.0.server.connect(config).await?;
        let mut current = self
            .0
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner);

        // The new number keeps a late failure of the old connection from discarding this one.
        *current = (current.0 + 1, Some(connection.clone()));

        Ok((current.0, connection))
    }

    fn current(&self) -> Option<(u64, Connection)> {
        let current = self
            .0
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        current.1.clone().map(|connection| (current.0, connection))
    }

    /// Discards a connection, unless there is a newer one.
    fn give_up(&self, number: u64) {
        let mut current = self
            .0
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if current.0 == number {
            current.1 = None;
        }
    }
}

/// Omits the URL, which may contain a password.
impl std::fmt::Debug for RedisClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisClient")
            .field("patience", &self.0.patience)
            .finish_non_exhaustive()
    }
}
