//! Providers that depend on another service: identity providers with a key set, and introspection
//! of opaque tokens.

mod client;
mod endpoint;
mod error;
mod introspection;
mod key_set;
mod key_source;
mod management;
mod mapping;
mod metadata;
mod provider;
mod revocable;
mod users;

pub use error::IdpError;
pub use introspection::IntrospectionProvider;
pub use provider::IdpProvider;
pub use revocable::RevocableIdpProvider;

use endpoint::Endpoint;
