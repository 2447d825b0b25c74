//! The access token of a request.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::body::client_of;
use crate::accounts::NativeAuthProvider;
use crate::accounts::audit;
use crate::accounts::refused::Refused;
use crate::accounts::tokens::SessionToken;
use crate::auth::{Bearer, UserContext, token68};

/// The maximum length of a token in bytes.
const MAX_LENGTH: usize = 8 << 10;

/// The access token of a request, verified.
pub(super) struct Access(pub(super) SessionToken);

impl FromRequestParts<NativeAuthProvider> for Access {
    type Rejection = Refused;

    async fn from_request_parts(
        parts: &mut Parts,
        provider: &NativeAuthProvider,
    ) -> Result<Self, Refused> {
        let verified = match Bearer::of(&parts.headers, MAX_LENGTH) {
            Bearer::Token(token) => verify(token, provider).await,
            // Not logged: a request without a token is no attempt with a wrong one.
            Bearer::Absent => return Err(Refused::NoToken),
            Bearer::Malformed => Err(Refused::BadToken { expired: false }),
        };

        let client = || client_of(&parts.headers, &parts.extensions, provider);
        verified
            .map(Self)
            .inspect_err(|refused| audit::note_refused_token(refused, &client()))
    }
}

/// Returns the user of the access token in these headers; `None` without a valid one.
pub(super) async fn user_of(
    headers: &HeaderMap,
    provider: &NativeAuthProvider,
) -> Option<UserContext> {
    let Bearer::Token(token) = Bearer::of(headers, MAX_LENGTH) else {
        return None;
    };

    verify(token, provider).await.ok().map(|token| token.user())
}

async fn verify(token: &[u8], provider: &NativeAuthProvider) -> Result<SessionToken, Refused> {
    let token = token68(token).ok_or(Refused::BadToken { expired: false })?;
    Ok(provider.verified(token).await?)
}
