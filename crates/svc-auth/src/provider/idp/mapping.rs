//! Maps the claims of an access token to a user.

use serde_json::{Map, Value};

use super::IdpError;
use crate::provider::standard_user::{texts, words};
use crate::token::is_for;
use crate::{AuthError, Claims, IdpConfig, UserContext};

/// Claims that do not become metadata: they belong to the token, or to other members of the user.
const OWN_PLACES: [&str; 8] = ["sub", "email", "name", "exp", "iat", "nbf", "iss", "aud"];
/// Claims that occur only in ID tokens (OpenID Connect Core 1.0, sections 2 and 3.3.2.11) and in
/// log-out tokens.
const OF_ID_TOKENS: [&str; 6] = [
    "nonce",
    "at_hash",
    "c_hash",
    "s_hash",
    "events",
    "auth_req_id",
];
/// Claims that occur only in access tokens: from RFC 9068, section 2.2, and from identity
/// providers.
const OF_ACCESS_TOKENS: [&str; 8] = [
    "scope",
    "scp",
    "client_id",
    "token_use",
    "typ",
    "gty",
    "azpacr",
    "appidacr",
];

/// The locations of claims, as JSON pointers.
#[derive(Debug, Clone)]
pub(super) struct ClaimMapping {
    audience: String,
    /// The value that the audience must contain.
    pub(super) api_identifier: String,
    /// Whether the audience may be a client, as in ID tokens. Access tokens are then recognized by
    /// claims that occur only in them.
    may_be_client: bool,
    roles: Roles,
    permissions: Option<String>,
    tenant: Option<String>,
}

#[derive(Debug, Clone)]
enum Roles {
    Pointer(String),
    /// The namespaced claim.
    Name(String),
}

impl ClaimMapping {
    pub(super) fn new(config: &IdpConfig) -> Result<Self, IdpError> {
        let pointer = |pointer: &String| match pointer.starts_with('/') {
            true => Ok(pointer.clone()),
            false => Err(IdpError::Pointer(pointer.clone())),
        };

        let api_identifier = config
            .api_identifier
            .clone()
            .filter(|id| !id.is_empty())
            .ok_or(IdpError::NoAudience)?;

        let host = api_identifier
            .strip_prefix("https://")
            .unwrap_or(&api_identifier)
            .trim_end_matches('/');
        let namespaced = Roles::Name(format!("https://{host}/roles"));

        Ok(Self {
            audience: pointer(&config.audience_claim)?,
            // APIs are identified by URIs, clients rarely.
            may_be_client: config.client_id.as_ref() == Some(&api_identifier)
                || !api_identifier.contains(':'),
            roles: config
                .roles_claim
                .as_ref()
                .map_or(Ok(namespaced), |roles| pointer(roles).map(Roles::Pointer))?,
            permissions: config.permissions_claim.as_ref().map(pointer).transpose()?,
            tenant: config.tenant_claim.as_ref().map(pointer).transpose()?,
            api_identifier,
        })
    }

    /// Checks that the claims belong to an access token for this service.
    pub(super) fn check(&self, claims: &Claims, is_marked_access: bool) -> Result<(), AuthError> {
        if !is_for(claims.pointer(&self.audience), &self.api_identifier) {
            return Err(AuthError::invalid(
                "its audience is not the one that is configured",
            ));
        }

        let is_other = |name: &str, known: &[&str]| {
            claims
                .get(name)
                .is_some_and(|kind| !kind.as_str().is_some_and(|kind| known.contains(&kind)))
        };

        // Set by Amazon Cognito and by Keycloak, respectively.
        let is_other =
            is_other("token_use", &["access"]) || is_other("typ", &["Bearer", "at+jwt", "JWT"]);

        // ID tokens are signed with the same keys: they tell a client about a log-in, and grant no
        // access to an API.
        if is_other || OF_ID_TOKENS.iter().any(|name| claims.get(name).is_some()) {
            return Err(AuthError::invalid("it is not an access token"));
        }

        let is_access = || {
            OF_ACCESS_TOKENS
                .iter()
                .any(|name| claims.get(name).is_some())
        };

        if self.may_be_client && !is_marked_access && !is_access() {
            return Err(AuthError::invalid(
                "nothing tells it from an ID token, as its audience may be a client",
            ));
        }

        Ok(())
    }

    /// Builds the user from the claims.
    pub(super) fn user(&self, claims: &Claims) -> Result<UserContext, AuthError> {
        let id = claims.subject().filter(|id| !id.is_empty());
        let mut user = UserContext::new(id.ok_or_else(|| AuthError::invalid("there is no `sub`"))?);
        user.email = claims.text("email").map(str::to_owned);
        user.name = claims.text("name").map(str::to_owned);
        user.roles = match &self.roles {
            Roles::Pointer(pointer) => words(claims.pointer(pointer), pointer)?,
            Roles::Name(name) => texts(claims.get(name), name)?,
        };
        user.permissions = match &self.permissions {
            Some(pointer) => words(claims.pointer(pointer), pointer)?,
            None if claims.get("permissions").is_some() => {
                texts(claims.get("permissions"), "permissions")?
            }
            None => words(claims.get("scope"), "scope")?,
        };

        user.metadata = self.metadata(claims);

        Ok(user)
    }

    fn metadata(&self, claims: &Claims) -> Map<String, Value> {
        let others = claims
            .as_map()
            .iter()
            .filter(|(name, _)| !OWN_PLACES.contains(&name.as_str()));
        let mut metadata: Map<_, _> = others
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if let Some(pointer) = &self.tenant {
            // A claim that happens to be called `tenant` is not the tenant.
            metadata.shift_remove("tenant");
            if let Some(tenant) = claims.pointer(pointer) {
                metadata.insert("tenant".to_owned(), tenant.clone());
            }
        }

        metadata
    }
}
