//! Permits to send mails.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of mails being sent at once.
const MAX_MAILS: usize = 64;
/// The maximum number of these that clients of one network have requested: one network must not use
/// up the permits of all others while the mailer is slow.
const MAX_PER_NETWORK: usize = 16;

/// The number of mails being sent, by the network of the client.
#[derive(Debug, Clone, Default)]
pub(super) struct MailPermits(Arc<Mutex<HashMap<String, usize>>>);

/// A permit to send a mail, which is returned when dropped.
pub(super) struct MailPermit {
    permits: MailPermits,
    network: String,
}

impl MailPermits {
    /// Takes a permit for a client of a network.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn take(&self, network: String) -> Result<MailPermit, &'static str> {
        let mut sending = self.sending();
        let of_network = sending.get(&network).copied().unwrap_or_default();
        if sending.values().sum::<usize>() >= MAX_MAILS {
            return Err("too many are being sent");
        }
        if of_network >= MAX_PER_NETWORK {
            return Err("too many are being sent for clients of the same network");
        }

        sending.insert(network.clone(), of_network + 1);
        Ok(MailPermit {
            permits: self.clone(),
            network,
        })
    }

    /// The code under the lock cannot panic half-way.
    fn sending(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MailPermit {
    fn drop(&mut self) {
        let mut sending = self.permits.sending();
        let left = sending
            .get(&self.network)
            .map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            sending.remove(&self.network);
        } else {
            sending.insert(self.network.clone(), left);
        }
    }
}
