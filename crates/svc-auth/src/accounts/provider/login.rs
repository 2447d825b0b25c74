//! Registration, log-in and token refresh.

use std::time::SystemTime;

use serde_json::Value;
use uuid::Uuid;

use super::NativeAuthProvider;
use super::mail::{Purpose, To};
use crate::accounts::audit::{self, Event};
use crate::accounts::database::{BegunSession, NewSession, Rotation, SessionIds};
use crate::accounts::password::{Password, PasswordHash, Salt, Turn, check_names};
use crate::accounts::refused::Refused;
use crate::accounts::tokens::{Issue, TokenPair, TokenType};
use crate::accounts::username::{read_email, read_username};
use crate::accounts::{Account, Client};

/// A password that was compared and matched the account's.
pub(super) struct Compared {
    pub(super) hash: PasswordHash,
    is_outdated: bool,
    /// The user's epoch before the comparison.
    epoch: Value,
}

impl NativeAuthProvider {
    /// Creates an account and logs it in.
    pub(in crate::accounts) async fn register(
        &self,
        username: &str,
        password: &str,
        email: &str,
        client: &Client,
    ) -> Result<(Account, TokenPair), Refused> {
        let username = read_username(username)
            .ok_or(Refused::BadInput("`username` must have 1 to 255 bytes: letters, digits and signs of ASCII, no spaces, nothing that cannot be seen"))?;
        let email =
            read_email(email).ok_or(Refused::BadInput("`email` must be an address of mail"))?;
        let password = self.read_new_password(password)?;
        check_names(&password, &[username.as_str(), email.as_str()])
            .map_err(Refused::WeakPassword)?;
        let create = async {
            self.check_breached(&password).await?;
            let hash = self.0.hasher.hash(password, None, Turn::Stranger).await?;
            let account = self.0.users.create(&username, &hash, &email).await?;
            let epoch = self.0.database.epoch(account.user_id).await?;
            let tokens = self.begin_session(&account, epoch, client).await?;
            Ok((account, tokens))
        };

        let (account, tokens) = self
            .registration(client, self.attempt(client, None, create))
            .await?;
        self.know_network(client, &username).await;
        self.mail(Purpose::VerifyEmail, To::Account(account.clone()), client);
        audit::note_login(Event::Registered, &account, client);

        Ok((account, tokens))
    }

    /// Logs in. An unknown name and a wrong password take the same steps.
    pub(in crate::accounts) async fn login(
        &self,
        username: &str,
        password: &str,
        client: &Client,
    ) -> Result<TokenPair, Refused> {
        // No account can have such a name, so the quick answer reveals only the rule for names.
        let Some(username) = read_username(username) else {
            audit::note(Event::LoginFailed, None, client);
            return Err(Refused::WrongCredentials);
        };

        let (key, turn) = self.account_key(client, &username).await?;
        let compare = async {
            let account = self.0.users.by_username(&username).await?;
            let (account, compared) = self.compare(account, password, turn, client).await?;
            let tokens = self
                .begin_session(&account, compared.epoch.clone(), client)
                .await?;
            Ok((account, compared, tokens))
        };

        let (account, compared, tokens) = self.attempt(client, Some(key), compare).await?;

        // The password is at hand only now; a hash cannot be strengthened without it.
        if compared.is_outdated {
            self.rehash(account.user_id, password, &compared.hash).await;
        }

        self.know_network(client, &username).await;
        audit::note_login(Event::LoggedIn, &account, client);

        Ok(tokens)
    }

    /// Returns the account if this is its password. Without an account, it takes just as long.
    pub(super) async fn compare(
        &self,
        account: Option<Account>,
        password: &str,
        turn: Turn,
        client: &Client,
    ) -> Result<(Account, Compared), Refused> {
        let user_id = account.as_ref().map(|account| account.user_id);

        // An impossible password is not hashed: that depends on the request alone, and so reveals
        // nothing about the account.
        let compared = match Password::read(password) {
            Ok(password) => {
                // The nil UUID belongs to no user, but takes the same queries and the same hash.
                self.compare_hashes(user_id.unwrap_or_default(), password, turn)
                    .await?
            }
            Err(_) => None,
        };

        // The suspension is looked at after the comparison: an earlier answer would reveal it to a
        // client without the password.
        match (account, compared) {
            (Some(account), Some(compared)) if !account.disabled => Ok((account, compared)),
            _ => {
                audit::note(Event::LoginFailed, user_id, client);
                Err(Refused::WrongCredentials)
            }
        }
    }

    /// Compares a password with a user's; `None` if it is a different one.
    async fn compare_hashes(
        &self,
        user_id: Uuid,
        password: Password,
        turn: Turn,
    ) -> Result<Option<Compared>, Refused> {
        // Read before the comparison: if the password changes in between, all sessions end, and the
        // epoch of this log-in no longer fits.
        let epoch = self.0.database.epoch(user_id).await?;
        let salt = self
            .0
            .users
            .salt(user_id)
            .await?
            .and_then(|salt| Salt::read(&salt));

        let is_outdated = salt
            .as_ref()
            .is_some_and(|salt| self.0.hasher.is_outdated(salt));
        let hash = self.0.hasher.hash(password, salt, turn).await?;
        let matches = self.0.users.matches(user_id, &hash).await?;

        Ok(matches.then_some(Compared {
            hash,
            is_outdated,
            epoch,
        }))
    }

    /// Saves a stronger hash, unless the password was changed in the meantime. The log-in does not
    /// depend on it.
    async fn rehash(&self, user_id: Uuid, password: &str, old: &PasswordHash) {
        let Ok(password) = Password::read(password) else {
            return;
        };

        let kept = match self.0.hasher.hash(password, None, Turn::Known).await {
            Ok(hash) => self
                .0
                .users
                .set_password(user_id, &hash, Some(old))
                .await
                .map_err(|error| error.to_string()),
            Err(busy) => Err(busy.to_string()),
        };

        if let Err(error) = kept {
            tracing::debug!(error, "an outdated hash of a password stays");
        }
    }

    /// Starts a session, unless all sessions have ended since the epoch was read.
    pub(super) async fn begin_session(
        &self,
        account: &Account,
        epoch: Value,
        client: &Client,
    ) -> Result<TokenPair, Refused> {
        let (session, now) = (self.new_session(client), SystemTime::now());
        let Some(begun) = self
            .0
            .database
            .begin_session(account.user_id, &session, epoch)
            .await?
        else {
            // It is uncertain whether the password is still valid: it may have changed since it was
            // compared.
            return Err(Refused::unavailable(
                "a session is not begun",
                "all sessions of the user ended meanwhile",
            ));
        };

        Ok(self.tokens_of(account, session.ids, &begun, now).await)
    }

    /// A session of a client, to be started in the database.
    pub(super) fn new_session<'a>(&self, client: &'a Client) -> NewSession<'a> {
        NewSession {
            ids: SessionIds {
                session: Uuid::new_v4(),
                refresh: Uuid::new_v4(),
            },
            ttl: self.0.tokens.refresh_ttl,
            user_agent: client.user_agent.as_deref(),
        }
    }

    /// Issues the tokens of a session that was started; `now` is the instance's time before that.
    pub(super) async fn tokens_of(
        &self,
        account: &Account,
        ids: SessionIds,
        begun: &BegunSession,
        now: SystemTime,
    ) -> TokenPair {
        self.revoke_pushed_out(&begun.pushed_out).await;
        self.revoke_left_over();
        self.0
            .tokens
            .issue(account, ids, Issue { at: begun.at, now })
    }

    /// Exchanges a refresh token, counting the attempt.
    pub(in crate::accounts) async fn refresh(
        &self,
        token: &str,
        client: &Client,
    ) -> Result<TokenPair, Refused> {
        self.attempt(client, None, self.exchange(token, client))
            .await
    }

    /// Exchanges a refresh token. If it was already exchanged, its session is ended.
    pub(super) async fn exchange(
        &self,
        token: &str,
        client: &Client,
    ) -> Result<TokenPair, Refused> {
        let presented = self
            .0
            .tokens
            .verify(token, TokenType::Refresh)
            .map_err(Refused::from);

        let presented =
            presented.inspect_err(|refused| audit::note_refused_token(refused, client))?;
        self.revoke_left_over();
        let ids = SessionIds {
            session: presented.session,
            refresh: presented.id,
        };

        let next = SessionIds {
            refresh: Uuid::new_v4(),
            ..ids
        };

        let now = SystemTime::now();
        let rejected = Refused::BadToken { expired: false };

        match self
            .0
            .database
            .rotate(ids, next.refresh, self.0.tokens.refresh_ttl)
            .await?
        {
            Rotation::Rotated { user_id, at } => match self
                .0
                .users
                .by_id(user_id)
                .await?
                .filter(|user| !user.disabled)
            {
                Some(account) => Ok(self.0.tokens.issue(&account, next, Issue { at, now })),
                None => {
                    audit::note(Event::TokenInvalid, Some(user_id), client);
                    self.end_session(&presented).await?;
                    Err(rejected)
                }
            },

            // The token was copied: client and thief cannot be told apart, so the session ends for
            // both (RFC 9700, section 4.14.2).
            Rotation::Reused { user_id } => {
                audit::note(Event::RefreshReused, Some(user_id), client);
                self.revoke_session(presented.session).await?;
                Err(rejected)
            }

            Rotation::Ended => {
                audit::note(Event::TokenInvalid, Some(presented.user_id), client);

                // The request that ended the session may have failed to revoke its access tokens.
                if self.0.revocation.is_checked() {
                    self.forget_session(presented.session).await?;
                }
                Err(rejected)
            }
        }
    }
}
