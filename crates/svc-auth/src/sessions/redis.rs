//! Sessions in Redis.

use std::time::Duration;

use redis::cmd;

use super::{SessionError, SessionStore};
use svc_core::RedisClient;

/// Sessions in Redis, shared by all instances of a service.
#[derive(Debug, Clone)]
pub struct RedisSessionStore {
    client: RedisClient,
    prefix: String,
}

impl RedisSessionStore {
    /// A store whose keys start with `svc:session:`.
    pub fn new(redis_client: &RedisClient) -> Self {
        Self {
            client: redis_client.clone(),
            prefix: "svc:session:".to_owned(),
        }
    }

    /// Sets the prefix of the keys, for a Redis shared by several services.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    async fn run<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, SessionError> {
        self.client
            .query(command)
            .await
            .map_err(|error| SessionError::Unavailable(error.to_string()))
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

impl SessionStore for RedisSessionStore {
    async fn load(&self, key: &str) -> Result<Option<Vec<u8>>, SessionError> {
        self.run(cmd("GET").arg(self.key(key))).await
    }

    async fn exists(&self, key: &str) -> Result<bool, SessionError> {
        Ok(self.run::<i64>(cmd("EXISTS").arg(self.key(key))).await? > 0)
    }

    async fn save(&self, key: &str, content: Vec<u8>, ttl: Duration) -> Result<(), SessionError> {
        let ttl = ttl.as_secs().max(1);
        self.run(
            cmd("SET")
                .arg(self.key(key))
                .arg(content)
                .arg("EX")
                .arg(ttl),
        )
        .await
    }

    async fn replace(
        &self,
        key: &str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> Result<bool, SessionError> {
        let mut command = cmd("SET");
        command
            .arg(self.key(key))
            .arg(content)
            // `XX` makes the replacement atomic: a session that has ended is not created again.
            .arg("XX")
            .arg("EX")
            .arg(ttl.as_secs().max(1));
        Ok(self.run::<Option<String>>(&command).await?.is_some())
    }

    async fn delete(&self, key: &str) -> Result<bool, SessionError> {
        Ok(self.run::<i64>(cmd("DEL").arg(self.key(key))).await? > 0)
    }
}
