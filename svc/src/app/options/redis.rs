//! The program's shared Redis client, and the revocations stored in Redis by the settings alone.

use std::time::Duration;

use super::AppOptions;
use crate::app::config::redis::URL;
use svc_auth::{RedisRevocationStore, RevocationConfig, TokenRevocationService};
use svc_core::{ConfigError, RedisClient};

impl AppOptions {
    /// Sets the Redis client in place of the client of `SVC_REDIS_URL`, such as one with custom
    /// certificate authorities.
    pub fn redis(mut self, client: RedisClient) -> Self {
        self.redis = client.into();
        self
    }

    /// Returns the Redis client shared by the whole program: the client [given](Self::redis) by the
    /// program, or else the client of `SVC_REDIS_URL`; `None` if there is neither. It has one
    /// connection, however many parts use it.
    ///
    /// ```
    /// use svc::prelude::*;
    /// # #[cfg(feature = "sessions")]
    /// use svc::sessions::{RedisSessionStore, SessionConfig, SessionLayer};
    ///
    /// # #[cfg(feature = "sessions")]
    /// # fn sessions(options: &AppOptions, secret: &str) -> Result<SessionLayer, svc::ConfigError> {
    /// let config = SessionConfig::new(secret);
    /// match options.redis_client()? {
    ///     Some(redis) => SessionLayer::with_store(config, RedisSessionStore::new(&redis)),
    ///     None => SessionLayer::new(config),
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// A [`ConfigError`] when the URL cannot be read.
    pub fn redis_client(&self) -> Result<Option<RedisClient>, ConfigError> {
        if let Some(client) = self.redis.get() {
            return Ok(Some(client.clone()));
        }

        let Some(url) = &self.config.redis.url else {
            return Ok(None);
        };

        let client = RedisClient::new(url).map_err(|mut bad| {
            bad.name = URL.to_owned();
            bad
        })?;

        Ok(Some(self.redis.get_or_init(|| client).clone()))
    }

    /// Returns the revocation service that stores revocations in Redis, for at least `ttl`; `None`
    /// without Redis.
    pub(in crate::app) fn revocation_in_redis(
        &self,
        ttl: Duration,
    ) -> Result<Option<TokenRevocationService>, ConfigError> {
        let mut config = RevocationConfig::default();
        config.ttl = config.ttl.max(ttl);
        let service = |redis| {
            let store = RedisRevocationStore::new(&redis, config.ttl);
            TokenRevocationService::new(store, config)
        };

        Ok(self.redis_client()?.map(service))
    }
}
