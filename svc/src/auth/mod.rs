//! Users, the tokens that identify them, and the providers that verify those tokens.
//!
//! A client sends `Authorization: Bearer <token>`. The [`AuthProvider`] of the application verifies
//! the token once per request, before anything else of the request is read, and resolvers get the
//! [`UserContext`] from [`Context::user`](crate::Context::user). An invalid token leaves the
//! request without a user, so that fields that need none still resolve.
//!
//! ```
//! use svc::auth::SignedTokenProvider;
//! use svc::prelude::*;
//!
//! #[svc::query]
//! fn me(ctx: &Context<'_>) -> Result<String> {
//!     Ok(ctx.require_user()?.user_id.clone())
//! }
//!
//! let provider = SignedTokenProvider::with_secret("a secret of at least thirty-two bytes")?;
//! let options = AppOptions::new().queries(queries![me]).auth_provider(provider.issuer("https://id.example"));
//! # Ok::<(), svc::auth::KeyError>(())
//! ```
//!
//! An application that authenticates in another way puts a [`UserContext`] into the extensions of
//! the request, in a layer around the router. Such a user takes precedence, and no token is read.

mod config;
mod idp_config;
mod token;

#[cfg(feature = "auth")]
mod authentication;
#[cfg(feature = "auth")]
mod error;
#[cfg(feature = "auth")]
mod outage;
#[cfg(feature = "auth")]
mod provider;
#[cfg(feature = "auth")]
mod revocation;
#[cfg(feature = "auth")]
mod user;

#[cfg(feature = "redis")]
pub use revocation::RedisRevocationStore;

pub use config::{AuthConfig, AuthProviderKind};
pub use idp_config::IdpConfig;
#[cfg(feature = "idp")]
pub use provider::{IdpError, IdpProvider, IntrospectionProvider, RevocableIdpProvider};
pub use token::TokenAlgorithm;

#[cfg(feature = "auth")]
pub use self::{
    error::AuthError,
    provider::{AuthProvider, Authenticated, MultiProvider, SignedTokenProvider},
    revocation::{
        MemoryRevocationStore, RevocableToken, RevocationConfig, RevocationStore,
        TokenRevocationService,
    },
    token::{Claims, KeyError, SigningKey, VerifyingKey},
    user::UserContext,
};

#[cfg(feature = "auth")]
pub(crate) use self::{
    authentication::{Authentication, Identity, Refusal, TokenCache},
    provider::{SharedProvider, Verified},
    user::OF_TOKENS,
};

#[cfg(feature = "native-auth")]
pub(crate) use self::{
    authentication::{Bearer, token68},
    token::{ClaimRules, Compact},
};
