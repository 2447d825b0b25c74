//! The access token of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::accounts::NativeAuthProvider;
use crate::accounts::refused::Refused;
use crate::accounts::tokens::SessionToken;
use crate::auth::{Bearer, token68};

/// The longest token.
const LONGEST: usize = 8 << 10;

/// The access token of a request, verified.
pub(super) struct Access(pub(super) SessionToken);

impl FromRequestParts<NativeAuthProvider> for Access {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, provider: &NativeAuthProvider) -> Result<Self, Refused> {
        match Bearer::of(&parts.headers, LONGEST) {
            Bearer::Token(token) => {
                let token = token68(token).ok_or(Refused::BadToken { expired: false })?;
                Ok(Self(provider.verified(token).await?))
            }
            Bearer::Absent | Bearer::Malformed => Err(Refused::BadToken { expired: false }),
        }
    }
}
