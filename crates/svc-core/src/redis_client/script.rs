//! Scripts that Redis runs.

use std::sync::OnceLock;
use std::time::Duration;

use redis::{Cmd, FromRedisValue, ToRedisArgs, cmd};

use super::{CommandError, RedisClient};

/// A script, and the digest that Redis identifies it by.
pub struct Script {
    text: &'static str,
    digest: OnceLock<String>,
}

impl Script {
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            digest: OnceLock::new(),
        }
    }

    fn digest(&self) -> &str {
        // Redis identifies scripts by SHA-1; no security depends on it.
        let sha1 = || {
            ring::digest::digest(
                &ring::digest::SHA1_FOR_LEGACY_USE_ONLY,
                self.text.as_bytes(),
            )
        };
        self.digest.get_or_init(|| hex::encode(sha1()))
    }
}

impl RedisClient {
    /// Runs a script, which may be run again if the connection was lost before.
    #[doc(hidden)]
    pub async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &(impl ToRedisArgs + Sync),
        bound: Duration,
    ) -> Result<T, CommandError> {
        let command = |name: &str, script: &str| -> Cmd {
            let mut command = cmd(name);
            command.arg(script).arg(keys.len()).arg(keys).arg(arguments);
            command
        };

        // A digest is sent instead of the text, because the script runs for each request.
        match self
            .query_within(&command("EVALSHA", script.digest()), bound)
            .await
        {
            // A server that was restarted no longer has the script.
            Err(CommandError::Failed(error)) if error.code() == Some("NOSCRIPT") => {
                self.query_within(&command("EVAL", script.text), bound)
                    .await
            }
            answer => answer,
        }
    }
}
