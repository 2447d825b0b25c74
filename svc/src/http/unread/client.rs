//! The client of a response.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A connection that can be closed, with everything that waits for its client.
pub(crate) trait Recipient: Debug + Send + Sync {
    /// A number unique to the connection.
    fn id(&self) -> usize;

    /// The bytes that its client has accepted so far, and the time of the last progress.
    fn taken(&self) -> (u64, Option<Instant>);

    /// Whether the connection is waiting for its client.
    fn is_waited_for(&self) -> bool;

    /// Closes the connection; unsent bytes are dropped soon.
    fn give_up(&self);
}

/// The client that a response is for.
pub(in crate::http) type Client = Arc<dyn Recipient>;

/// A large response, in its own extensions, for the server that sends it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LargeAnswer(Arc<OnceLock<Client>>);

impl LargeAnswer {
    /// Sets the client of the response. Without a client the response does not count, because no
    /// connection could be closed for it.
    pub(crate) fn is_sent_to(&self, client: Client) {
        // The first client is the one that receives it.
        let _ = self.0.set(client);
    }

    pub(super) fn client(&self) -> Option<&Client> {
        self.0.get()
    }
}
