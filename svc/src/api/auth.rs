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

#[cfg(feature = "redis")]
#[doc(inline)]
pub use svc_auth::RedisRevocationStore;
#[doc(inline)]
pub use svc_auth::{AuthConfig, AuthProviderKind, IdpConfig, TokenAlgorithm};
#[cfg(feature = "auth")]
#[doc(inline)]
pub use svc_auth::{
    AuthError, AuthProvider, Authenticated, Claims, KeyError, MemoryRevocationStore, MultiProvider,
    RevocableToken, RevocationConfig, RevocationStore, SignedTokenProvider, SigningKey,
    TokenRevocationService, UserContext, VerifyingKey,
};
#[cfg(feature = "idp")]
#[doc(inline)]
pub use svc_auth::{IdpError, IdpProvider, IntrospectionProvider, RevocableIdpProvider};
