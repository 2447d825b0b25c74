//! Verification of tokens from an identity provider that publishes its keys.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::client::HttpClient;
use super::key_source::{Fetched, KeySource};
use super::management::Management;
use super::mapping::ClaimMapping;
use super::metadata::Metadata;
use super::{Endpoint, IdpError};
use crate::token::{ClaimRules, Compact};
use crate::{
    AuthError, AuthProvider, Authenticated, Claims, IdpConfig, TokenAlgorithm, UserContext,
};
use svc_core::settings::{use_group, use_value};

/// The provider for identity providers that publish their keys: Auth0, Keycloak, Entra, Okta,
/// Cognito and others. It is cheap to clone.
///
/// Accepts access tokens for this API that are signed with a key of the issuer, by an allowed
/// algorithm, and that have not expired. Rejects ID tokens. Keys are cached for an hour; a token
/// that names an unknown key causes a new fetch, every 30 seconds at most. While fetching fails,
/// the current keys stay in use.
///
/// ```
/// use svc::IdpConfig;
/// use svc::auth::IdpProvider;
/// use svc::prelude::*;
///
/// let provider = IdpProvider::new("acme.eu.auth0.com", "https://api.acme.example")?;
/// let options = AppOptions::new().auth_provider(provider);
///
/// let keycloak = IdpConfig {
///     issuer: Some("https://id.acme.example/realms/acme".to_owned()),
///     api_identifier: Some("shop".to_owned()),
///     roles_claim: Some("/realm_access/roles".to_owned()),
///     ..IdpConfig::default()
/// };
/// let options = AppOptions::new().auth_provider(keycloak.create_provider()?);
/// # Ok::<(), svc::auth::IdpError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "give it to `AppOptions::auth_provider`"]
pub struct IdpProvider {
    keys: Arc<KeySource>,
    rules: ClaimRules,
    mapping: ClaimMapping,
    pub(super) management: Option<Arc<Management>>,
}

impl IdpConfig {
    /// Creates the provider for these settings.
    ///
    /// # Errors
    /// An [`IdpError`] if a setting is missing or cannot be used.
    pub fn create_provider(&self) -> Result<IdpProvider, IdpError> {
        use_group(self);
        let mapping = ClaimMapping::new(self)?;

        // The issuer's keys are public: as secrets, they would let everyone sign tokens (RFC 8725,
        // section 2.1).
        if let Some(symmetric) = self
            .algorithms
            .iter()
            .find(|algorithm| algorithm.is_symmetric())
        {
            return Err(IdpError::Symmetric(*symmetric));
        }

        let roots = self.root_certificates.as_ref().map(|path| {
            let failed = |error| IdpError::RootCertificates(format!("{}: {error}", path.display()));
            std::fs::read(path).map_err(failed)
        });
        let client = HttpClient::new(roots.transpose()?.as_deref())?;
        let (issuer, metadata) = match (&self.domain, &self.issuer) {
            (None, None) => return Err(IdpError::NoIssuer),
            (None, Some(issuer)) => (issuer.clone(), Metadata::of_issuer(issuer)?),
            (Some(domain), issuer) => {
                let base = base(domain);
                let keys = Endpoint::parse(&format!("{base}/.well-known/jwks.json"))?;
                (
                    // Auth0 writes a slash at the end of `iss`, which is compared exactly.
                    issuer.clone().unwrap_or_else(|| format!("{base}/")),
                    Metadata::Known(keys),
                )
            }
        };

        let management = match (&self.client_id, &self.client_secret, &self.domain) {
            (None, Some(_), _) => return Err(IdpError::NoClient),
            (Some(id), Some(secret), Some(domain)) => {
                let management = Management::new(client.clone(), &base(domain), id, secret)?;
                Some(Arc::new(management))
            }
            _ => None,
        };

        let lifetime = if self.cache_jwks {
            self.key_lifetime
        } else {
            Duration::ZERO
        };

        let intervals = [lifetime, self.key_refetch_interval];
        let keys = Arc::new(KeySource::new(
            client,
            metadata,
            self.algorithms.clone(),
            intervals,
        ));

        // The mapping checks the audience, as the settings may locate it in another claim than
        // `aud`.
        let rules = ClaimRules {
            issuer: Some(issuer),
            ..ClaimRules::default()
        };

        Ok(IdpProvider {
            keys,
            rules,
            mapping,
            management,
        })
    }
}

/// The base URL of a domain, which may include the scheme.
fn base(domain: &str) -> String {
    let domain = domain.trim_end_matches('/');
    if domain.contains("://") {
        domain.to_owned()
    } else {
        format!("https://{domain}")
    }
}

impl IdpProvider {
    /// The provider for a domain, for tokens signed with RS256 that name this audience.
    ///
    /// # Errors
    /// An [`IdpError`] if one of them is empty or cannot be used.
    pub fn new(
        domain: impl Into<String>,
        api_identifier: impl Into<String>,
    ) -> Result<Self, IdpError> {
        let domain = Some(domain.into()).filter(|domain| !domain.is_empty());
        IdpConfig {
            domain,
            api_identifier: Some(api_identifier.into()),
            ..IdpConfig::default()
        }
        .create_provider()
    }

    /// The clock skew tolerated when checking `exp` and `nbf`, up to five minutes; none by default.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        use_value("SVC_AUTH_LEEWAY", &leeway.as_secs().to_string());
        self.rules.leeway = leeway;
        self
    }

    /// Builds the user from verified claims.
    pub(super) fn user(&self, claims: &Claims) -> Result<UserContext, AuthError> {
        self.mapping.user(claims)
    }

    async fn verify(&self, token: &str) -> Result<(Claims, Arc<Fetched>), AuthError> {
        let compact = Compact::read(token)?;
        let algorithm = compact.algorithm();

        // Checked before the keys are needed: such a token must not cause a request to the issuer.
        if !self.keys.algorithms.contains(&algorithm) {
            return Err(not_allowed(algorithm));
        }

        let keys = self.keys.keys(compact.key_id.as_deref()).await?;
        let claims = signed(&compact, &keys)?;
        self.rules.check(&claims)?;
        self.mapping.check(&claims, compact.is_marked_access)?;

        Ok((claims, keys))
    }
}

/// Returns the claims if one of the keys has signed them.
fn signed(compact: &Compact<'_>, keys: &Fetched) -> Result<Claims, AuthError> {
    let mut refused = AuthError::invalid("the key that it names is not one of the issuer's");

    // A token without `kid` fits several keys, and two keys may have the same `kid` (RFC 7517,
    // section 4.5).
    for key in keys
        .set
        .candidates(compact.key_id.as_deref(), compact.algorithm())
    {
        match compact.verify(key) {
            Ok(claims) => return Ok(claims),
            Err(error) => refused = error,
        }
    }

    Err(refused)
}

fn not_allowed(algorithm: TokenAlgorithm) -> AuthError {
    AuthError::invalid(format!("it is signed by {algorithm}, which is not allowed"))
}

impl AuthProvider for IdpProvider {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(self.verify(token).await?.0)
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        self.user(&self.verify(token).await?.0)
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let (claims, keys) = self.verify(token).await?;
        let user = self.user(&claims)?;
        let authenticated = Authenticated::new(claims, user).signed();
        let hold = self.keys.hold(&keys);

        if hold.is_zero() {
            return Ok(authenticated);
        }

        // If `exp` is earlier, the cache entry ends then.
        Ok(authenticated.keep_until(SystemTime::now() + hold))
    }

    fn key_generation(&self) -> u64 {
        self.keys.generation()
    }

    fn weakness(&self) -> Option<String> {
        let is_weak = !self.keys.metadata.is_encrypted();
        is_weak.then(|| "the identity provider's keys are read over http; use https".to_owned())
    }
}
