//! Counting of failed attempts.

use ring::hmac;

use super::NativeAuthProvider;
use crate::accounts::Client;
use crate::accounts::audit::{self, Event};
use crate::accounts::refused::Refused;

/// A counted attempt.
pub(super) struct Attempt(Vec<(String, u32)>);

impl NativeAuthProvider {
    /// Counts an attempt, before anything else is done, for the client's address and, if given, for
    /// the key of an account.
    pub(super) async fn count_attempt(
        &self,
        client: &Client,
        account: Option<String>,
    ) -> Result<Attempt, Refused> {
        let limits = self.0.limits;

        // The address comes first, so that a blocked address cannot use up the attempts of an
        // account.
        let address = (
            self.key_of("address", &client.network()),
            limits.per_address,
        );
        let account = account.map(|key| (key, limits.per_account));
        let keys: Vec<_> = std::iter::once(address).chain(account).collect();

        match self.0.database.count_attempt(&keys, limits.window).await? {
            None => Ok(Attempt(keys)),
            Some(wait) => {
                audit::note(Event::TooManyAttempts, None, client);
                Err(Refused::TooManyAttempts(wait))
            }
        }
    }

    /// Runs a registration, which counts for the client's address unless it fails.
    pub(super) async fn registration<T>(
        &self,
        client: &Client,
        run: impl Future<Output = Result<T, Refused>>,
    ) -> Result<T, Refused> {
        let limits = self.0.limits;
        let keys = vec![(
            self.key_of("registrations at", &client.network()),
            limits.registrations_per_address,
        )];
        if let Some(wait) = self.0.database.count_attempt(&keys, limits.window).await? {
            audit::note(Event::TooManyRegistrations, None, client);
            return Err(Refused::TooManyAttempts(wait));
        }

        let registered = run.await;
        if registered.is_err() {
            self.forgive(&Attempt(keys)).await;
        }

        registered
    }

    /// Runs an operation that takes a credential, as an attempt; `account` is the count key of its
    /// account, if it has one. The attempt is taken back if it succeeds, and if it fails for
    /// a reason other than the credential. Breached passwords count: otherwise a client could cause
    /// any number of look-ups.
    pub(super) async fn attempt<T>(
        &self,
        client: &Client,
        account: Option<String>,
        run: impl Future<Output = Result<T, Refused>>,
    ) -> Result<T, Refused> {
        let attempt = self.count_attempt(client, account).await?;
        let result = run.await;
        let is_forgiven = match &result {
            Ok(_) | Err(Refused::Unavailable(_) | Refused::PasswordIsSet(_)) => true,
            Err(Refused::WeakPassword(weakness)) => !weakness.is_looked_up(),
            Err(_) => false,
        };

        if is_forgiven {
            self.forgive(&attempt).await;
        }

        result
    }

    /// Takes an attempt back. A failure is only logged: the operation has its result, and a count
    /// that remains expires with its window.
    async fn forgive(&self, attempt: &Attempt) {
        if let Err(error) = self.0.database.forgive_attempt(&attempt.0).await {
            tracing::warn!(%error, "an attempt stays counted until its window ends: cannot undo the count");
        }
    }

    /// The key of a count: neither names nor addresses are stored.
    pub(super) fn key_of(&self, kind: &str, name: &str) -> String {
        let mac = hmac::sign(
            &self.0.mac_key,
            format!("attempts of {kind} {name}").as_bytes(),
        );

        // 128 bits keep the keys apart, and halve the size of the index.
        hex::encode(&mac.as_ref()[..16])
    }
}
