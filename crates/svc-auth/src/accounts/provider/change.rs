//! Changing a password, with the old one or with a mailed token, and verifying an address.

use std::time::SystemTime;

use uuid::Uuid;

use super::login::Compared;
use super::mail::{Purpose, To};
use super::{Inner, NativeAuthProvider};
use crate::accounts::audit::{self, Event};
use crate::accounts::database::EndedSessions;
use crate::accounts::password::{PasswordHash, Turn, check_names};
use crate::accounts::refused::Refused;
use crate::accounts::tokens::{SessionToken, TokenPair};
use crate::accounts::username::read_email;
use crate::accounts::{Account, Client};

impl NativeAuthProvider {
    /// Returns the account of a token, unless it is deleted or suspended.
    pub(in crate::accounts) async fn account_of(
        &self,
        token: &SessionToken,
    ) -> Result<Account, Refused> {
        active(self.0.users.by_id(token.user_id).await?)
    }

    /// Changes the password, given the current one. All sessions end, and a new one starts.
    pub(in crate::accounts) async fn change_password(
        &self,
        token: &SessionToken,
        current: &str,
        new: &str,
        client: &Client,
    ) -> Result<TokenPair, Refused> {
        let new = self.read_new_password(new)?;
        let account = self.account_of(token).await?;
        check_names(&new, &account.names()).map_err(Refused::WeakPassword)?;
        let (account, compared) = self.confirm(account, current, client).await?;
        self.check_breached(&new).await?;
        let hash = self.0.hasher.hash(new, None, Turn::Known).await?;

        // The comparison is repeated with the update: of two changes with the same old password,
        // one wins.
        let changed = self
            .replace_password(&account, &hash, &compared.hash, client)
            .await;
        let changed = self.or_set(account.user_id, &hash, changed).await;
        note_change(Event::PasswordChanged, account.user_id, &changed, client);

        changed
    }

    /// Replaces the password, ends all sessions and starts one.
    async fn replace_password(
        &self,
        account: &Account,
        hash: &PasswordHash,
        in_place_of: &PasswordHash,
        client: &Client,
    ) -> Result<TokenPair, Refused> {
        let user_id = account.user_id;
        let Inner {
            users, database, ..
        } = &*self.0;

        if self.0.has_passwords {
            let (session, now) = (self.new_session(client), SystemTime::now());
            let changed = database
                .change_password(user_id, hash, in_place_of, &session)
                .await?
                .ok_or(Refused::WrongCredentials)?;
            self.revoke_after_change(user_id, &changed.ended).await;
            return Ok(self
                .tokens_of(account, session.ids, &changed.begun, now)
                .await);
        }

        // No transaction includes both the sessions and passwords that are stored elsewhere.
        if !users.set_password(user_id, hash, Some(in_place_of)).await? {
            return Err(Refused::WrongCredentials);
        }

        let begin = async {
            let ended = database.end_sessions(user_id).await?;
            self.revoke_after_change(user_id, &ended).await;

            // The log-out above has changed the epoch; with the one of the comparison, no session
            // would begin.
            let epoch = database.epoch(user_id).await?;
            self.begin_session(account, epoch, client).await
        };

        begin.await.map_err(Refused::with_password_set)
    }

    /// Uses the MAC of a mailed token up, sets the password and ends all sessions.
    async fn use_and_set(&self, mac: &str, hash: &PasswordHash) -> Result<EndedSessions, Refused> {
        let purpose = Purpose::ResetPassword.as_str();
        let Inner {
            users, database, ..
        } = &*self.0;

        if self.0.has_passwords {
            let ended = database.reset_password(purpose, mac, hash).await?;
            return ended.ok_or(Refused::BadMailedToken);
        }

        let used = database.use_mailed_token(purpose, mac).await?;
        let user_id = used.ok_or(Refused::BadMailedToken)?.user_id;

        // The account may have been deleted meanwhile.
        if !users.set_password(user_id, hash, None).await? {
            return Err(Refused::BadMailedToken);
        }

        let ended = database.end_sessions(user_id).await;
        ended.map_err(|error| Refused::from(error).with_password_set())
    }

    /// Returns the result of setting a password. If the database gave no answer, the password may be
    /// set nevertheless, which the client must know.
    async fn or_set<T>(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
        set: Result<T, Refused>,
    ) -> Result<T, Refused> {
        match set {
            Err(refused @ Refused::Unavailable(_)) => {
                let is_set = self.0.users.matches(user_id, hash).await;
                Err(if is_set.unwrap_or_default() {
                    refused.with_password_set()
                } else {
                    refused
                })
            }
            set => set,
        }
    }

    /// Deletes the account, given its password.
    pub(in crate::accounts) async fn delete(
        &self,
        token: &SessionToken,
        password: &str,
        client: &Client,
    ) -> Result<(), Refused> {
        let account = self.0.users.by_id(token.user_id).await?;

        // Without an account, an earlier request has deleted it and failed to revoke this token.
        if account.is_some() {
            self.confirm(active(account)?, password, client).await?;
        }

        self.remove(token.user_id, client).await?;

        Ok(())
    }

    /// Compares the password of a logged-in user, counting the attempt.
    async fn confirm(
        &self,
        account: Account,
        password: &str,
        client: &Client,
    ) -> Result<(Account, Compared), Refused> {
        // A client with a token is not a stranger, on any network.
        let (key, _) = self.account_key(client, &account.username).await?;
        self.attempt(
            client,
            Some(key),
            self.compare(Some(account), password, Turn::Known, client),
        )
        .await
    }

    /// Mails a token to an address, if it belongs to an account. The response does not reveal
    /// whether it does.
    pub(in crate::accounts) async fn forgot_password(
        &self,
        email: &str,
        client: &Client,
    ) -> Result<(), Refused> {
        let email =
            read_email(email).ok_or(Refused::BadInput("`email` must be an address of mail"))?;

        // Never taken back: each request may send a mail.
        self.count_attempt(client, Some(self.key_of_mails(&email)))
            .await?;
        self.mail(Purpose::ResetPassword, To::Address(email), client);
        Ok(())
    }

    /// Sets the password, given a mailed token. All sessions end.
    pub(in crate::accounts) async fn reset_password(
        &self,
        token: &str,
        new: &str,
        client: &Client,
    ) -> Result<(), Refused> {
        let new = self.read_new_password(new)?;
        let set = async {
            let (purpose, mac) = (Purpose::ResetPassword.as_str(), self.mac_of(token));

            // Check the token before using it up: nothing is hashed for an invalid token, and
            // neither a weak password nor a failure to hash uses it up.
            let to = self.0.database.mailed_token_recipient(purpose, &mac);
            let to = to.await?.ok_or(Refused::BadMailedToken)?;

            // The account may have been deleted since the token was mailed.
            let account = self.0.users.by_id(to.user_id).await?;
            let account = account.ok_or(Refused::BadMailedToken)?;
            check_names(&new, &account.names()).map_err(Refused::WeakPassword)?;
            self.check_breached(&new).await?;

            let hash = self.0.hasher.hash(new, None, Turn::Stranger).await?;

            // A session begun with the old password may be an attacker's.
            let set = self.use_and_set(&mac, &hash).await;
            let set = self.or_set(to.user_id, &hash, set).await;
            note_change(Event::PasswordReset, to.user_id, &set, client);
            Ok((account, set?))
        };

        let set = self.attempt(client, None, set).await;
        let (account, ended) =
            set.inspect_err(|refused| audit::note_refused_token(refused, client))?;
        self.revoke_after_change(account.user_id, &ended).await;

        // Anyone with access to the user's mail may log in, no matter how many attempts by
        // strangers have failed.
        self.know_network(client, &account.username).await;

        Ok(())
    }

    /// The key for counting mails to an address. It is separate from log-ins, so that a locked-out
    /// user can still request a mail.
    fn key_of_mails(&self, address: &str) -> String {
        self.key_of("mails to", &address.to_lowercase())
    }

    /// Marks an address as verified.
    pub(in crate::accounts) async fn verify_email(
        &self,
        token: &str,
        client: &Client,
    ) -> Result<(), Refused> {
        let verify = async {
            let used = self
                .0
                .database
                .use_mailed_token(Purpose::VerifyEmail.as_str(), &self.mac_of(token))
                .await?;

            let to = used.ok_or(Refused::BadMailedToken)?;
            let is_verified = self.0.users.verify_email(to.user_id, &to.email).await?;
            if is_verified {
                Ok(())
            } else {
                Err(Refused::BadMailedToken)
            }
        };

        let verified = self.attempt(client, None, verify).await;
        verified.inspect_err(|refused| audit::note_refused_token(refused, client))
    }

    /// Mails a token to the address of an account, unless it is already verified.
    pub(in crate::accounts) async fn send_verification(
        &self,
        token: &SessionToken,
        client: &Client,
    ) -> Result<(), Refused> {
        let account = self.account_of(token).await?;
        self.count_attempt(client, Some(self.key_of_mails(&account.email)))
            .await?;
        if !account.email_verified {
            self.mail(Purpose::VerifyEmail, To::Account(account), client);
        }
        Ok(())
    }
}

/// Records that the password was set, if it was.
fn note_change<T>(event: Event, user_id: Uuid, set: &Result<T, Refused>, client: &Client) {
    if matches!(set, Ok(_) | Err(Refused::PasswordIsSet(_))) {
        audit::note(event, Some(user_id), client);
    }
}

/// Returns the account, unless it is deleted or suspended.
fn active(account: Option<Account>) -> Result<Account, Refused> {
    account
        .filter(|account| !account.disabled)
        .ok_or(Refused::BadToken { expired: false })
}
