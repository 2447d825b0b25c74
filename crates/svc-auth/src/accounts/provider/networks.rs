//! Networks where a user has logged in before: strangers guessing passwords cannot lock the user
//! out there (NIST SP 800-63B, section 5.2.2).

use std::time::Duration;

use super::NativeAuthProvider;
use crate::accounts::Client;
use crate::accounts::database::Visit;
use crate::accounts::password::Turn;
use crate::accounts::refused::Refused;

/// How long a network is remembered after a log-in.
const KEEP_FOR: Duration = Duration::from_secs(30 * 86_400);

impl NativeAuthProvider {
    fn visit(&self, client: &Client, name: &str) -> Visit {
        // With the name in the key, the rows do not reveal that two accounts share a network.
        let place = format!("{} of {name}", client.network());
        Visit {
            account: self.key_of("account", name),
            network: self.key_of("account at", &place),
        }
    }

    /// The key for counting attempts on an account. A network where its user has logged in has a
    /// separate count and does not add to the common one; its passwords do not queue behind
    /// strangers' either.
    pub(super) async fn account_key(
        &self,
        client: &Client,
        name: &str,
    ) -> Result<(String, Turn), Refused> {
        let visit = self.visit(client, name);

        // All clients without an address would share one network.
        let is_known = client.address.is_some() && self.0.database.is_known_network(&visit).await?;
        Ok(if is_known {
            (visit.network, Turn::Known)
        } else {
            (visit.account, Turn::Stranger)
        })
    }

    /// Remembers a network where the user of an account was recognized. The user's request does not
    /// depend on it.
    pub(super) async fn know_network(&self, client: &Client, name: &str) {
        if client.address.is_none() {
            return;
        }

        if let Err(error) = self
            .0
            .database
            .know_network(&self.visit(client, name), KEEP_FOR)
            .await
        {
            tracing::debug!(%error, "the network of a user is not noted");
        }
    }
}
