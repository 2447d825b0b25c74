//! The access token of a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::body::client_of;
use crate::accounts::NativeAuthProvider;
use crate::accounts::audit;
use crate::accounts::refused::Refused;
use crate::accounts::tokens::SessionToken;
use crate::{Bearer, token68};

/// The maximum length of a token in bytes.
const MAX_LENGTH: usize = 8 << 10;

/// The access token of a request, verified.
#[derive(Clone)]
pub(super) struct Access(pub(super) Arc<SessionToken>);

impl FromRequestParts<NativeAuthProvider> for Access {
    type Rejection = Refused;

    async fn from_request_parts(
        parts: &mut Parts,
        provider: &NativeAuthProvider,
    ) -> Result<Self, Refused> {
        // Already verified if rate limits count its user.
        if let Some(access) = parts.extensions.remove::<Self>() {
            return Ok(access);
        }

        let verified = match Bearer::of(&parts.headers, MAX_LENGTH) {
            Bearer::Token(token) => verify(token, provider).await,
            // Not logged: a request without a token is no attempt with a wrong one.
            Bearer::Absent => return Err(Refused::NoToken),
            Bearer::Malformed => Err(Refused::BadToken { expired: false }),
        };

        let client = || client_of(&parts.headers, &parts.extensions, provider);
        verified
            .map(|token| Self(Arc::new(token)))
            .inspect_err(|refused| audit::note_refused_token(refused, &client()))
    }
}

/// Returns the access token in these headers; `None` without a valid one.
pub(super) async fn access_of(
    headers: &HeaderMap,
    provider: &NativeAuthProvider,
) -> Option<Access> {
    let Bearer::Token(token) = Bearer::of(headers, MAX_LENGTH) else {
        return None;
    };

    let token = verify(token, provider).await.ok()?;
    Some(Access(Arc::new(token)))
}

async fn verify(token: &[u8], provider: &NativeAuthProvider) -> Result<SessionToken, Refused> {
    let token = token68(token).ok_or(Refused::BadToken { expired: false })?;
    Ok(provider.verified(token).await?)
}
