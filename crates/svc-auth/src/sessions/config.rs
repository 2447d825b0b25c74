//! The settings of sessions.

use std::time::Duration;

use svc_core::ConfigError;
use svc_core::settings::use_value;

/// The rule by which browsers send the cookie with requests that other sites cause (RFC 6265bis,
/// section 5.6.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SameSite {
    /// Never.
    Strict,
    /// With links that are followed.
    #[default]
    Lax,
    /// Always; such a cookie has to be [`https_only`](SessionConfig::https_only).
    None,
}

/// The protection of what the cookie holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CookieProtection {
    /// It can be neither read nor changed: AES-256-GCM.
    #[default]
    Encrypted,
    /// It can be read, and not changed: HMAC with SHA-256.
    Signed,
}

/// The settings of sessions. `Debug` shows no secret.
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionConfig {
    /// The secret that protects cookies; at least 32 bytes.
    pub secret_key: String,
    /// The secret before, whose cookies are still read, so that a secret can be replaced.
    pub previous_secret_key: Option<String>,
    /// The name of the cookie.
    pub session_cookie: String,
    /// The time after which a session that is not used ends.
    pub max_age: Duration,
    /// The rule for requests of other sites.
    pub same_site: SameSite,
    /// Whether browsers send it over HTTPS only.
    pub https_only: bool,
    /// The protection of what the cookie holds.
    pub protection: CookieProtection,
}

/// The fewest bytes of a secret.
const SECRET: usize = 32;
/// The longest time of a session: browsers keep no cookie for longer.
const MAX_AGE: Duration = Duration::from_secs(400 * 86_400);

impl SessionConfig {
    /// Encrypted cookies of the name `session`, for a day, over HTTPS only.
    pub fn new(secret_key: impl Into<String>) -> Self {
        let secret_key = secret_key.into();
        use_value("SVC_AUTH_SECRET_KEY", &secret_key);
        Self {
            secret_key,
            previous_secret_key: None,
            session_cookie: "session".to_owned(),
            max_age: Duration::from_secs(86_400),
            same_site: SameSite::Lax,
            https_only: true,
            protection: CookieProtection::Encrypted,
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let secrets = [
            ("secret_key", Some(&self.secret_key)),
            ("previous_secret_key", self.previous_secret_key.as_ref()),
        ];
        for (name, secret) in secrets {
            if secret.is_some_and(|secret| secret.len() < SECRET) {
                return Err(ConfigError::new(
                    name,
                    "***",
                    "it must be a secret of at least 32 bytes",
                ));
            }
        }

        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if self.session_cookie.is_empty() || !self.session_cookie.bytes().all(is_token) {
            let allowed = "it must be a name of letters, digits and -_.";
            return Err(ConfigError::new(
                "session_cookie",
                &*self.session_cookie,
                allowed,
            ));
        }

        if self.max_age < Duration::from_secs(1) || self.max_age > MAX_AGE {
            let allowed = "it must be from a second to 400 days";
            return Err(ConfigError::new(
                "max_age",
                format!("{:?}", self.max_age),
                allowed,
            ));
        }

        // Browsers drop a cookie with such a name, or with `SameSite=None`, that is not `Secure`
        // (RFC 6265bis, section 4.1.3).
        let is_prefixed = self.session_cookie.starts_with("__Host-")
            || self.session_cookie.starts_with("__Secure-");
        if !self.https_only && (is_prefixed || self.same_site == SameSite::None) {
            let allowed = "it must be true with `same_site` None, or a name that begins with __Host- or __Secure-";
            return Err(ConfigError::new("https_only", "false", allowed));
        }

        Ok(())
    }
}

impl std::fmt::Debug for SessionConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionConfig")
            .field("session_cookie", &self.session_cookie)
            .field("max_age", &self.max_age)
            .field("same_site", &self.same_site)
            .field("https_only", &self.https_only)
            .field("protection", &self.protection)
            .finish_non_exhaustive()
    }
}
