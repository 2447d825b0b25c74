//! Authentication for svc: tokens, identity providers, revocation, sessions and accounts.
//!
//! `Authentication` finds the user of a request once, before anything else of the request is read.
//! Tokens are cached by a keyed hash, never as text. Authorization is in `svc_engine::authz`.
//!
//! This crate is an internal part of `svc`: it is published because `svc` needs it, and changes
//! without notice. Programs depend on `svc`, which re-exports the public items.
//!
//! | Module | Contents |
//! |---|---|
//! | `authentication` | the identity of a request, from its headers, and the cache of tokens |
//! | `token` | signed tokens: algorithms, claims and signatures |
//! | `provider` | the trait `AuthProvider`, providers of signed tokens, and identity providers |
//! | `revocation` | revoked tokens, in memory or Redis |
//! | `user` | `UserContext`: the user, as resolvers see it |
//! | `sessions` | sessions in cookies, with the feature `sessions` |
//! | `accounts` | native accounts and their routes, with the feature `native-auth` |
//! | `config`, `idp_config` | the settings, which exist in every build |
//! | `error`, `outage` | errors of tokens and providers, and the log of outages |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![cfg_attr(
    not(all(
        feature = "auth",
        feature = "idp",
        feature = "native-auth",
        feature = "redis",
        feature = "sessions",
        feature = "websocket",
    )),
    allow(
        unreachable_pub,
        reason = "items that svc uses only with some features are public"
    )
)]
#![allow(
    missing_docs,
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::should_implement_trait,
    rustdoc::private_intra_doc_links,
    reason = "internal: the part that svc re-exports is documented"
)]

#[cfg(feature = "native-auth")]
pub mod accounts;
mod config;
mod idp_config;
#[cfg(feature = "sessions")]
pub mod sessions;
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
pub use self::{
    authentication::{Authentication, Identity, Refusal, TokenCache},
    provider::{SharedProvider, Verified},
    user::{OF_TOKENS, UserFacts},
};

#[cfg(feature = "native-auth")]
pub(crate) use self::{
    authentication::{Bearer, token68},
    token::{ClaimRules, Compact},
};
