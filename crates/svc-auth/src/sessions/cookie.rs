//! The cookie of a session (RFC 6265).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::keys::Keys;
use super::{SameSite, SessionConfig};

/// The maximum number of cookies with this name to try: there are several if other hosts of the
/// domain have set them.
const MAX_COOKIES: usize = 8;

/// The content of a cookie.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Content {
    /// The identifier of the session; the key in the store is derived from it.
    pub(super) id: String,
    /// The expiry, in seconds since 1970.
    pub(super) until: u64,
    /// The values of the session, if they are stored in the cookie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) values: Option<Map<String, Value>>,
}

/// A valid session cookie of a request.
pub(super) struct Presented {
    pub(super) content: Content,
    /// Whether the cookie should be renewed: half of its lifetime has passed, or its secret was
    /// replaced.
    pub(super) is_old: bool,
}

impl Content {
    pub(super) fn new(id: String, max_age: Duration, values: Option<Map<String, Value>>) -> Self {
        Self {
            id,
            until: now().saturating_add(max_age.as_secs()),
            values,
        }
    }
}

/// Finds a valid session cookie in a request.
pub(super) fn presented(
    headers: &HeaderMap,
    config: &SessionConfig,
    keys: &Keys,
) -> Option<Presented> {
    let texts = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let pairs = texts
        .flat_map(|text| text.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let ours = pairs
        .filter(|(name, _)| *name == config.session_cookie)
        .take(MAX_COOKIES);
    let opened = ours.filter_map(|(_, value)| keys.open(value));
    let mut read = opened.filter_map(|(json, is_before)| {
        let content: Content = serde_json::from_slice(&json).ok()?;

        // `Max-Age` does not bind a client that has copied the cookie, so the protected content has
        // an expiry as well.
        let left = content.until.checked_sub(now()).filter(|left| *left > 0)?;
        Some(Presented {
            content,
            is_old: is_before || left < config.max_age.as_secs() / 2,
        })
    });

    read.next()
}

/// The header that sets a cookie; `None` if it cannot be created.
pub(super) fn set(content: &Content, config: &SessionConfig, keys: &Keys) -> Option<HeaderValue> {
    let value = keys.seal(&serde_json::to_vec(content).ok()?)?;
    header(&value, config.max_age, config)
}

/// The header that removes a cookie.
pub(super) fn unset(config: &SessionConfig) -> Option<HeaderValue> {
    header("", Duration::ZERO, config)
}

fn header(value: &str, max_age: Duration, config: &SessionConfig) -> Option<HeaderValue> {
    let same_site = match config.same_site {
        SameSite::Strict => "Strict",
        SameSite::Lax => "Lax",
        SameSite::None => "None",
    };

    let (name, seconds) = (&config.session_cookie, max_age.as_secs());
    let secure = if config.https_only { "; Secure" } else { "" };

    // Without `Domain`, browsers send the cookie to this host only (RFC 6265, section 4.1.2.3).
    let text = format!(
        "{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"
    );
    let mut header = HeaderValue::try_from(text).ok()?;

    // Debug output omits sensitive values.
    header.set_sensitive(true);

    Some(header)
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
