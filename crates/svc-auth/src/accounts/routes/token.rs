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

/// The result of verifying a request's access token before its handler runs.
#[derive(Clone)]
pub(super) struct Verification(pub(super) Result<Access, Refused>);

impl FromRequestParts<NativeAuthProvider> for Access {
    type Rejection = Refused;

    async fn from_request_parts(
        parts: &mut Parts,
        provider: &NativeAuthProvider,
    ) -> Result<Self, Refused> {
        // Already verified if rate limits count its user.
        let verified = match parts.extensions.remove::<Verification>() {
            Some(Verification(verified)) => verified,
            None => Self::of(&parts.headers, provider).await,
        };

        // A request without a token is not logged: it is no attempt with a wrong one.
        let client = || client_of(&parts.headers, &parts.extensions, provider);
        verified.inspect_err(|refused| audit::note_refused_token(refused, &client()))
    }
}

impl Access {
    /// Verifies the access token in these headers.
    pub(super) async fn of(
        headers: &HeaderMap,
        provider: &NativeAuthProvider,
    ) -> Result<Self, Refused> {
        match Bearer::of(headers, MAX_LENGTH) {
            Bearer::Token(token) => Ok(Self(Arc::new(verify(token, provider).await?))),
            Bearer::Absent => Err(Refused::NoToken),
            Bearer::Malformed => Err(Refused::BadToken { expired: false }),
        }
    }
}

async fn verify(token: &[u8], provider: &NativeAuthProvider) -> Result<SessionToken, Refused> {
    let token = token68(token).ok_or(Refused::BadToken { expired: false })?;
    Ok(provider.verified(token).await?)
}
