//! The client of an answer.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A connection that can be closed, with all that waits for its client.
pub(crate) trait Recipient: Debug + Send + Sync {
    /// A number that no other connection has.
    fn id(&self) -> usize;

    /// The bytes that its client has taken so far, and when that last were some.
    fn taken(&self) -> (u64, Option<Instant>);

    /// Whether the next step is the client's.
    fn is_waited_for(&self) -> bool;

    /// Closes it; what has not been sent is dropped soon.
    fn give_up(&self);
}

/// The client that an answer is for.
pub(in crate::http) type Client = Arc<dyn Recipient>;

/// A large answer, in the extensions of its response, for the server that sends it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LargeAnswer(Arc<OnceLock<Client>>);

impl LargeAnswer {
    /// The answer goes to this client. Without one it does not count, as nobody could be given up for it.
    pub(crate) fn is_sent_to(&self, client: Client) {
        // The first is the one that sends it.
        let _ = self.0.set(client);
    }

    pub(super) fn client(&self) -> Option<&Client> {
        self.0.get()
    }
}
