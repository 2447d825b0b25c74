//! The factory for providers of native accounts.

use std::sync::Arc;
use std::time::Duration;

use ring::hmac;

use super::{AttemptLimits, Inner, MailPermits, NativeAuthProvider, PendingRevocations};
use crate::accounts::client::ClientAddress;
use crate::accounts::mailer::DynMailer;
use crate::accounts::password::{DynBreached, PasswordHasher};
use crate::accounts::tokens::Tokens;
use crate::accounts::{
    AccountDatabase, AccountMailer, BreachedPasswords, PasswordHashing, PasswordRules,
    PostgresRevocationStore, UserRepository,
};
use crate::{KeyError, RevocationConfig, TokenRevocationService};
use svc_core::settings::use_value;

/// Creates [`NativeAuthProvider`]s.
///
/// ```
/// use svc::accounts::{AccountDatabase, NativeAuthFactory, PostgresUserRepository, create_auth_router};
/// use svc::prelude::*;
///
/// # fn app(secret: &str) -> Result<(AppOptions, svc::axum::Router), Box<dyn std::error::Error>> {
/// let database = AccountDatabase::new("postgres://localhost/shop")?;
/// let users = PostgresUserRepository::new(&database);
/// let (access, refresh) = (NativeAuthFactory::ACCESS_TOKEN_TTL, NativeAuthFactory::REFRESH_TOKEN_TTL);
/// let native = NativeAuthFactory::new(&database).create_provider(users, secret, access, refresh)?;
/// let options = AppOptions::new().auth_provider(native.clone());
/// let routes = create_auth_router(&native); // to be nested under `/auth`
/// # Ok((options, routes)) }
/// ```
#[must_use = "make a provider with `create_provider`"]
pub struct NativeAuthFactory {
    database: AccountDatabase,
    hashing: PasswordHashing,
    rules: PasswordRules,
    context_words: Vec<String>,
    breached: Option<Box<dyn DynBreached>>,
    limits: AttemptLimits,
    mailer: Option<Box<dyn DynMailer>>,
    revocation: Option<TokenRevocationService>,
    address: ClientAddress,
    issuer: Option<String>,
    audience: Option<String>,
    leeway: Duration,
}

/// Why a provider cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeAuthError {
    /// The secret cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The threads that hash passwords cannot be started.
    #[error("the threads that hash passwords cannot be started: {0}")]
    Threads(#[from] std::io::Error),
}

impl NativeAuthFactory {
    /// The usual lifetime of access tokens: a quarter of an hour.
    pub const ACCESS_TOKEN_TTL: Duration = Duration::from_secs(900);
    /// The usual lifetime of refresh tokens: thirty days.
    pub const REFRESH_TOKEN_TTL: Duration = Duration::from_secs(2_592_000);

    /// A factory for providers with sessions in a database.
    pub fn new(database: &AccountDatabase) -> Self {
        Self {
            database: database.clone(),
            hashing: PasswordHashing::default(),
            rules: PasswordRules::default(),
            context_words: Vec::new(),
            breached: None,
            limits: AttemptLimits::default(),
            mailer: None,
            revocation: None,
            // Clients can forge every header, so none counts unless the application names it.
            address: Arc::new(|_, peer| peer.map(|peer| peer.ip())),
            issuer: None,
            audience: None,
            leeway: Duration::ZERO,
        }
    }

    /// The cost of hashing passwords. If it increases, each hash is replaced at the next log-in.
    pub fn hashing(mut self, hashing: PasswordHashing) -> Self {
        self.hashing = hashing;
        self
    }

    /// The rules for new passwords.
    pub fn password_rules(mut self, rules: PasswordRules) -> Self {
        self.rules = rules;
        self
    }

    /// The words of the service that no new password may consist of, even with digits and signs,
    /// such as its name, the company and its products. With accounts from settings, they are
    /// `SVC_SERVICE_NAME` and `SVC_ACCOUNTS_CONTEXT_WORDS`.
    pub fn context_words(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.context_words = words.into_iter().map(Into::into).collect();
        self
    }

    /// The list of breached passwords, in which new passwords are looked up; none by default.
    /// [`PasswordRules::breached_timeout`] limits the time of a look-up, and
    /// [`PasswordRules::allow_unchecked`] decides if it fails.
    pub fn breached_passwords(mut self, list: impl BreachedPasswords) -> Self {
        self.breached = Some(Box::new(list));
        self
    }

    /// The limits on attempts with credentials.
    pub fn attempt_limits(mut self, limits: AttemptLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The sender of mails. Without one, the routes that need it do not exist.
    pub fn mailer(mut self, mailer: impl AccountMailer) -> Self {
        self.mailer = Some(Box::new(mailer));
        self
    }

    /// The service that revokes access tokens, in place of the default one in the same database. It
    /// must keep revocations for at least the lifetime of access tokens
    /// ([`RevocationConfig::ttl`]).
    pub fn revocation(mut self, revocation: TokenRevocationService) -> Self {
        self.revocation = Some(revocation);
        self
    }

    /// The address for counting attempts; by default the peer address of the connection. A service
    /// behind a proxy takes it from the header that its proxy overwrites.
    pub fn client_address(
        mut self,
        address: impl Fn(
            &axum::http::HeaderMap,
            Option<std::net::SocketAddr>,
        ) -> Option<std::net::IpAddr>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.address = Arc::new(address);
        self
    }

    /// The issuer, written into tokens and required in them.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// The audience, written into tokens and required in them.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// The clock skew between instances that is tolerated when checking `exp`, up to five minutes;
    /// none by default.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Records the settings that have their values from this provider.
    fn note_use(&self, secret: &[u8], access_token_ttl: Duration, refresh_token_ttl: Duration) {
        let seconds = |time: Duration| time.as_secs().to_string();
        use_value("SVC_AUTH_SECRET_KEY", &String::from_utf8_lossy(secret));
        use_value(
            "SVC_AUTH_ISSUER",
            self.issuer.as_deref().unwrap_or_default(),
        );
        use_value(
            "SVC_AUTH_AUDIENCE",
            self.audience.as_deref().unwrap_or_default(),
        );
        use_value("SVC_AUTH_LEEWAY", &seconds(self.leeway));
        use_value("SVC_ACCOUNTS_ACCESS_TOKEN_TTL", &seconds(access_token_ttl));
        use_value(
            "SVC_ACCOUNTS_PASSWORD_MIN_LENGTH",
            &self.rules.min_length.to_string(),
        );

        use_value(
            "SVC_ACCOUNTS_REFRESH_TOKEN_TTL",
            &seconds(refresh_token_ttl),
        );
    }

    /// Creates a provider. The secret signs the tokens; in production it must have at least 32
    /// bytes.
    ///
    /// # Errors
    /// A [`NativeAuthError`] if the secret is empty or a PEM key, or a thread cannot be started.
    pub fn create_provider(
        self,
        user_repository: impl UserRepository,
        secret_key: impl AsRef<[u8]>,
        access_token_ttl: Duration,
        refresh_token_ttl: Duration,
    ) -> Result<NativeAuthProvider, NativeAuthError> {
        let secret = secret_key.as_ref();
        self.note_use(secret, access_token_ttl, refresh_token_ttl);
        let mut tokens = Tokens::new(secret, access_token_ttl, refresh_token_ttl)?;
        tokens.rules.issuer = self.issuer;
        tokens.rules.audience = self.audience;
        tokens.rules.leeway = self.leeway;
        let revocation = self.revocation.unwrap_or_else(|| {
            let config = RevocationConfig::default();

            // A revocation that expires before its token would make the token valid again.
            let ttl = config.ttl.max(access_token_ttl);
            TokenRevocationService::new(
                PostgresRevocationStore::new(&self.database),
                RevocationConfig { ttl, ..config },
            )
        });

        // A separate key, so that no MAC is ever the signature of a token.
        let mac_key = hmac::sign(
            &hmac::Key::new(hmac::HMAC_SHA256, secret),
            b"svc: codes of native accounts",
        );

        let has_passwords = user_repository
            .password_database()
            .is_some_and(|passwords| passwords.is_same(&self.database));

        Ok(NativeAuthProvider(Arc::new(Inner {
            users: Box::new(user_repository),
            database: self.database,
            has_passwords,
            hasher: PasswordHasher::start(self.hashing)?,
            rules: self.rules,
            context_words: self.context_words,
            breached: self.breached,
            tokens,
            revocation,
            pending: PendingRevocations::default(),
            limits: self.limits,
            mailer: self.mailer,
            mails: MailPermits::default(),
            address: self.address,
            mac_key: hmac::Key::new(hmac::HMAC_SHA256, mac_key.as_ref()),
            secret: secret.len(),
        })))
    }
}

impl std::fmt::Debug for NativeAuthFactory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeAuthFactory")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
