//! A connection outside of the pool that receives notifications.

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Client;

use super::DriverError;
use super::config::{Opened, Target};
use super::wire::Wire;

use crate::connect::ConnectConfig;
use crate::statement::quote;

/// The time allowed for opening a connection and listening on its channels.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection that receives the notifications on its channels. It is closed on drop.
pub struct ListeningConnection {
    /// The server keeps the session open while the client exists.
    _client: Client,
    wire: Wire,
}

impl ListeningConnection {
    /// Opens a connection that listens on these channels from now on.
    pub async fn open(connect: &ConnectConfig, channels: &[String]) -> Result<Self, DriverError> {
        let opening = async {
            let Opened {
                client, mut wire, ..
            } = Target::new(connect).connect().await?;

            // Before `LISTEN`, as a notification may arrive together with its response.
            wire.keep_notifications();
            let listen: String = channels
                .iter()
                .map(|channel| format!("LISTEN {};", quote(channel)))
                .collect();
            wire.drive(client.batch_execute(&listen)).await?;

            Ok(Self {
                _client: client,
                wire,
            })
        };

        timeout(PATIENCE, opening)
            .await
            .unwrap_or(Err(DriverError::Unanswered))
    }

    /// Waits for the next notification: its channel and its payload.
    pub async fn next(&mut self) -> Result<(String, String), DriverError> {
        let notification = self.wire.notified().await?;
        Ok((
            notification.channel().to_owned(),
            notification.payload().to_owned(),
        ))
    }
}

impl std::fmt::Debug for ListeningConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListeningConnection")
            .finish_non_exhaustive()
    }
}
