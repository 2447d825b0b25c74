//! PostgreSQL events: `LISTEN` on a dedicated connection, `NOTIFY` through the pool.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};

use super::{EventSource, SourceEvent};
use svc_core::{Error, ErrorCode, Result};
use svc_postgres::{
    ConnectConfig, Database, DbError, ListeningConnection, Param, Session, Statement,
};

/// The smallest size in bytes of a payload that PostgreSQL rejects.
const TOO_LONG: usize = 8_000;

/// The maximum length of the name of a channel in bytes, which is `NAMEDATALEN` less one.
const LONGEST_NAME: usize = 63;

/// The events of the service's database.
#[derive(Debug)]
pub struct PostgresEvents {
    /// The server to listen to; a pooler in between may not let a session listen.
    pub connect: ConnectConfig,
    pub database: Arc<Database>,
}

impl EventSource for PostgresEvents {
    fn listen<'a>(
        &'a self,
        channels: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        let listening = async move {
            let connection = ListeningConnection::open(&self.connect, channels).await;
            let connection =
                connection.map_err(|error| Error::internal(error.with_sources().to_string()))?;
            let events = stream::unfold(connection, |mut connection| async move {
                match connection.next().await {
                    Ok((channel, payload)) => {
                        Some((SourceEvent::new(channel, payload), connection))
                    }
                    Err(error) => {
                        tracing::debug!(error = %error.with_sources(), "the listening connection has ended");
                        None
                    }
                }
            });

            Ok(events.boxed())
        };

        listening.boxed()
    }

    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>> {
        let publishing = async move {
            self.validate(channel, payload)?;

            let params = vec![
                Param::Text(channel.to_owned()),
                Param::Text(payload.to_owned()),
            ];

            // `NOTIFY` takes no parameters, and neither the channel nor the payload may become SQL
            // text.
            let notify = Statement::new("SELECT pg_catalog.pg_notify($1, $2)", params);

            self.database
                .fetch(Session::none(), &notify)
                .await
                .map(drop)
                .map_err(|error| error.into_error())
        };

        publishing.boxed()
    }

    fn validate(&self, channel: &str, payload: &str) -> Result<()> {
        if channel.contains('\0') || payload.contains('\0') {
            return Err(DbError::Nul.into_error());
        }

        if channel.is_empty() || channel.len() > LONGEST_NAME {
            let message = format!("a channel of PostgreSQL has 1 to {LONGEST_NAME} bytes");
            return Err(Error::new(ErrorCode::BadUserInput, message));
        }

        if payload.len() >= TOO_LONG {
            let message = format!(
                "a payload of PostgreSQL has less than {TOO_LONG} bytes; send an id in its place"
            );
            return Err(Error::new(ErrorCode::BadUserInput, message));
        }

        Ok(())
    }
}
