//! Access and refresh tokens: HS256, distinguished by the claim `type`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::Account;
use super::database::SessionIds;
use crate::{
    AuthError, ClaimRules, Claims, Compact, KeyError, SigningKey, TokenAlgorithm, UserContext,
};

/// The tokens returned by a log-in or a refresh; their fields are the response body. `Debug` shows
/// none of them.
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct TokenPair {
    /// The token to send with requests.
    pub access_token: String,
    /// The token to exchange, once, for the next pair.
    pub refresh_token: String,
    /// `bearer`.
    pub token_type: &'static str,
    /// The lifetime of the access token in seconds.
    pub expires_in: u64,
}

/// Issues and verifies tokens.
#[derive(Debug)]
pub(super) struct Tokens {
    key: SigningKey,
    pub(super) rules: ClaimRules,
    pub(super) access_ttl: Duration,
    pub(super) refresh_ttl: Duration,
}

/// The purpose of a token.
#[derive(Clone, Copy)]
pub(super) enum TokenType {
    Access,
    Refresh,
}

/// A verified token of a session.
pub(super) struct SessionToken {
    pub(super) user_id: Uuid,
    pub(super) session: Uuid,
    pub(super) id: Uuid,
    pub(super) claims: Claims,
}

impl TokenType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Refresh => "refresh",
        }
    }
}

/// The time at which tokens are issued.
#[derive(Debug, Clone, Copy)]
pub(super) struct Issue {
    /// The time when the session was started or renewed, by the database's clock, in seconds since
    /// 1970: anything that ends the session later by that clock also ends its tokens.
    pub(super) at: f64,
    /// The instance's time before that; the lifetime of the tokens starts here.
    pub(super) now: SystemTime,
}

impl Tokens {
    pub(super) fn new(
        secret: &[u8],
        access_ttl: Duration,
        refresh_ttl: Duration,
    ) -> Result<Self, KeyError> {
        let key = SigningKey::new(TokenAlgorithm::Hs256, secret)?;

        // The time of issue comes from the database's clock.
        let rules = ClaimRules {
            is_dated_elsewhere: true,
            ..ClaimRules::default()
        };

        Ok(Self {
            key,
            rules,
            access_ttl,
            refresh_ttl,
        })
    }

    /// Issues the tokens of a session.
    pub(super) fn issue(&self, account: &Account, ids: SessionIds, issue: Issue) -> TokenPair {
        let mut access = self.claims(account.user_id, ids.session, issue, self.access_ttl);
        access.extend(entries([
            ("type", json!(TokenType::Access.as_str())),
            ("jti", json!(Uuid::new_v4())),
            ("email", json!(account.email)),
            (
                "name",
                json!(account.name.as_ref().unwrap_or(&account.username)),
            ),
            ("roles", json!(account.roles)),
            ("permissions", json!(account.permissions)),
        ]));

        let mut refresh = self.claims(account.user_id, ids.session, issue, self.refresh_ttl);
        refresh.extend(entries([
            ("type", json!(TokenType::Refresh.as_str())),
            ("jti", json!(ids.refresh)),
        ]));

        TokenPair {
            access_token: self.key.sign(&access),
            refresh_token: self.key.sign(&refresh),
            token_type: "bearer",
            expires_in: self.access_ttl.as_secs(),
        }
    }

    fn claims(
        &self,
        user_id: Uuid,
        session: Uuid,
        issue: Issue,
        ttl: Duration,
    ) -> Map<String, Value> {
        let now = issue
            .now
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();

        let mut claims: Map<_, _> = entries([
            ("sub", json!(user_id)),
            ("sid", json!(session)),
            // With fractions, so that a log-out of all sessions distinguishes tokens issued before
            // it from later ones in the same second.
            ("iat", json!(issue.at)),
            ("exp", json!(now + ttl.as_secs_f64())),
        ])
        .collect();

        let audience = self.rules.audience.iter().map(|audience| ("aud", audience));
        let named = self
            .rules
            .issuer
            .iter()
            .map(|issuer| ("iss", issuer))
            .chain(audience);

        claims.extend(named.map(|(name, value)| (name.to_owned(), json!(value))));

        claims
    }

    /// Verifies a token of the wanted type.
    pub(super) fn verify(&self, token: &str, wanted: TokenType) -> Result<SessionToken, AuthError> {
        let claims = Compact::read(token)?.verify(self.key.verifying_key())?;

        // Both kinds have the same key: a refresh token must not open the API, nor an access token
        // renew itself.
        if claims.text("type") != Some(wanted.as_str()) {
            return Err(AuthError::invalid("its `type` is another"));
        }

        self.rules.check(&claims)?;
        let id = |name: &str| claims.text(name).and_then(|id| Uuid::parse_str(id).ok());

        match (id("sub"), id("sid"), id("jti")) {
            (Some(user_id), Some(session), Some(id)) => Ok(SessionToken {
                user_id,
                session,
                id,
                claims,
            }),
            _ => Err(AuthError::invalid("`sub`, `sid` or `jti` is not a UUID")),
        }
    }
}

impl SessionToken {
    /// The user described by an access token.
    pub(super) fn user(&self) -> UserContext {
        let list = |name: &str| {
            let values = self
                .claims
                .get(name)
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            values
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };

        let user = UserContext::new(self.user_id.to_string())
            .roles(list("roles"))
            .permissions(list("permissions"));
        let user = self
            .claims
            .text("email")
            .into_iter()
            .fold(user, UserContext::email);

        let user = self
            .claims
            .text("name")
            .into_iter()
            .fold(user, UserContext::name);

        user.metadata("session_id", self.session.to_string())
    }
}

fn entries<const N: usize>(entries: [(&str, Value); N]) -> impl Iterator<Item = (String, Value)> {
    entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect::<Vec<_>>()
        .into_iter()
}

impl std::fmt::Debug for TokenPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenPair")
            .field("expires_in", &self.expires_in)
            .finish_non_exhaustive()
    }
}
