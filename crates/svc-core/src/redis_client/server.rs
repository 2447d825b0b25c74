//! The server of a URL, and connections to it.

use std::sync::Arc;

use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError};
use tokio::task::AbortHandle;

#[cfg(feature = "tls")]
use super::tls::Encryption;

/// A server, with or without TLS.
pub(super) enum Server {
    Plain(Client),
    #[cfg(feature = "tls")]
    Encrypted(Encryption),
}

/// A connection; its clones share it.
#[derive(Clone)]
pub(super) struct Connection {
    redis: MultiplexedConnection,
    /// The task that reads and writes, if we have spawned it; it stops with the last clone.
    _driver: Option<Arc<Driver>>,
}

/// A task that is aborted when this value is dropped.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The allowed URLs.
#[cfg(feature = "tls")]
const ALLOWED: &str =
    "it must be redis://user:password@host:port/number, rediss://… for TLS, or redis+unix:///path";
#[cfg(not(feature = "tls"))]
const ALLOWED: &str = "it must be redis://user:password@host:port/number or redis+unix:///path";

impl Server {
    /// Parses a URL. Errors describe the allowed URLs without quoting this one, as it may contain a
    /// password.
    pub(super) fn parse(url: &str) -> Result<Self, &'static str> {
        match encrypted(url) {
            Some(plain) => Self::encrypted(&plain),
            None => Client::open(url).map(Self::Plain).map_err(|_| ALLOWED),
        }
    }

    #[cfg(feature = "tls")]
    fn encrypted(plain: &str) -> Result<Self, &'static str> {
        // In URLs of the crate `redis`, the fragment `#insecure` disables the verification; here it
        // would be lost without a notice.
        if plain.contains('#') {
            return Err(
                "it must have no fragment: the certificate is always verified; name its authority with \
                        `root_certificates`",
            );
        }

        let info = redis::IntoConnectionInfo::into_connection_info(plain).map_err(|_| ALLOWED)?;
        Encryption::new(&info, None)
            .map(Self::Encrypted)
            .map_err(|_| ALLOWED)
    }

    #[cfg(not(feature = "tls"))]
    fn encrypted(_: &str) -> Result<Self, &'static str> {
        Err("it must not be rediss:// in this build; switch on the feature `tls`")
    }

    /// Opens a connection.
    pub(super) async fn connect(
        &self,
        config: AsyncConnectionConfig,
    ) -> Result<Connection, RedisError> {
        match self {
            Self::Plain(client) => {
                let redis = client
                    .get_multiplexed_async_connection_with_config(&config)
                    .await?;
                Ok(Connection {
                    redis,
                    // Here the crate `redis` has spawned the task itself.
                    _driver: None,
                })
            }
            #[cfg(feature = "tls")]
            Self::Encrypted(encryption) => {
                let stream = encryption.connect().await?;
                let opened =
                    MultiplexedConnection::new_with_config(encryption.settings(), stream, config);
                let (redis, driver) = opened.await?;
                let driver = Driver(tokio::spawn(driver).abort_handle());
                Ok(Connection {
                    redis,
                    _driver: Some(Arc::new(driver)),
                })
            }
        }
    }
}

impl Server {
    /// Opens a connection for listening to channels.
    pub(super) async fn listen(&self) -> Result<PubSub, RedisError> {
        match self {
            Self::Plain(client) => client.get_async_pubsub().await,
            #[cfg(feature = "tls")]
            Self::Encrypted(encryption) => {
                PubSub::new(encryption.settings(), encryption.connect().await?).await
            }
        }
    }
}

impl Connection {
    /// Sends a command.
    pub(super) async fn query<T: FromRedisValue>(
        &mut self,
        command: &Cmd,
    ) -> Result<T, RedisError> {
        command.query_async(&mut self.redis).await
    }
}

/// If a URL uses TLS, returns the same URL without it.
fn encrypted(url: &str) -> Option<String> {
    // The parser of URLs ignores leading blanks, which must not hide the scheme from this check.
    let (scheme, rest) = url.trim_start().split_once("://")?;
    let asks = ["rediss", "valkeys"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    asks.then(|| format!("redis://{rest}"))
}
