//! Networks from which a user has logged in before, so that strangers who guess cannot lock the user out there (NIST
//! SP 800-63B, section 5.2.2).

use std::time::Duration;

use super::database::Visit;
use super::password::Turn;
use super::refused::Refused;
use super::{Client, NativeAuthProvider};

/// The time for which a network is known after a log-in.
const KEEP_FOR: Duration = Duration::from_secs(30 * 86_400);

impl NativeAuthProvider {
    fn visit(&self, client: &Client, name: &str) -> Visit {
        let place = format!("{} of {name}", client.network());
        Visit { account: self.key_of("account", name), network: self.key_of("account at", &place) }
    }

    /// The key under which attempts on an account are counted. A network from which its user has logged in has a count
    /// of its own, and takes no part in that of all others; its passwords do not wait behind theirs either.
    pub(super) async fn account_key(&self, client: &Client, name: &str) -> Result<(String, Turn), Refused> {
        let visit = self.visit(client, name);
        let is_known = client.address.is_some() && self.0.database.is_known_network(&visit).await?;
        Ok(if is_known { (visit.network, Turn::Known) } else { (visit.account, Turn::Stranger) })
    }

    /// Notes that the user of an account was recognised in a network. What they do there does not depend on it.
    pub(super) async fn know_network(&self, client: &Client, name: &str) {
        if client.address.is_none() {
            return;
        }
        if let Err(error) = self.0.database.know_network(&self.visit(client, name), KEEP_FOR).await {
            tracing::debug!(%error, "the network of a user is not noted");
        }
    }
}
