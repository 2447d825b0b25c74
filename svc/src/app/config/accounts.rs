//! The settings of native accounts. Like [`AuthConfig`](crate::AuthConfig), they exist in every
//! build.

use std::time::Duration;

use axum::http::HeaderName;

use svc_core::settings::{BETWEEN, Count, Kind, Maybe, Parsed, Seconds, items, settings};

settings! {
    /// The settings of native accounts; the field `accounts` of [`SvcConfig`](crate::SvcConfig).
    /// They apply if `SVC_AUTH_PROVIDER` is `native`, which also needs `SVC_AUTH_SECRET_KEY`.
    pub struct AccountsConfig {
        /// Path under which the routes of accounts are mounted.
        path: String = "/auth".to_owned(), ["SVC_ACCOUNTS_PATH"], Mount;
        /// Lifetime of access tokens.
        access_token_ttl: Duration = Duration::from_secs(900), ["SVC_ACCOUNTS_ACCESS_TOKEN_TTL"], Seconds(1..=86_400);
        /// Lifetime of refresh tokens.
        refresh_token_ttl: Duration = Duration::from_secs(2_592_000), ["SVC_ACCOUNTS_REFRESH_TOKEN_TTL"],
            Seconds(1..=31_536_000);
        /// Header with the client's address that the proxy in front sends, such as `x-real-ip` or
        /// `x-forwarded-for`; its last address counts. If unset, attempts count for the client
        /// address that a proxy of `SVC_TRUSTED_PROXIES` reports, or else for the peer of the
        /// connection.
        address_header: Option<HeaderName> = None, ["SVC_ACCOUNTS_ADDRESS_HEADER"], Maybe(Parsed("a header name"));
        /// Minimum length of new passwords; 15 is recommended, as passwords are the only factor.
        password_min_length: usize = 8, ["SVC_ACCOUNTS_PASSWORD_MIN_LENGTH"], Count(8..=64, "characters");
        /// Words that new passwords must not consist of, such as the names of the company and its
        /// products, in addition to `SVC_SERVICE_NAME`.
        context_words: Vec<String> = Vec::new(), ["SVC_ACCOUNTS_CONTEXT_WORDS"], Words;
    }
}

/// A path that routes can be nested under.
struct Mount;

impl Kind<String> for Mount {
    fn parse(&self, text: &str) -> Result<String, String> {
        if is_mount(text) {
            Ok(text.to_owned())
        } else {
            Err(format!("it must be {}", self.allowed()))
        }
    }
    fn allowed(&self) -> String {
        "a path such as /auth, of letters, digits and -._~/".to_owned()
    }
    fn shown(&self, value: &String) -> String {
        value.clone()
    }
}

/// A list of words, separated by commas.
struct Words;

impl Kind<Vec<String>> for Words {
    fn parse(&self, text: &str) -> Result<Vec<String>, String> {
        items(text).ok_or_else(|| format!("it must be {}", self.allowed()))
    }
    fn allowed(&self) -> String {
        format!("a list of words, {BETWEEN}")
    }
    fn shown(&self, value: &Vec<String>) -> String {
        if value.is_empty() {
            "none".to_owned()
        } else {
            value.join(", ")
        }
    }
}

impl AccountsConfig {
    /// The path, if routes can be nested under it.
    #[cfg(feature = "native-auth")]
    pub(in crate::app) fn checked_path(&self) -> Result<&str, svc_core::ConfigError> {
        Mount.parse(&self.path).map_err(|allowed| {
            svc_core::ConfigError::new("SVC_ACCOUNTS_PATH", &*self.path, &allowed)
        })?;
        Ok(&self.path)
    }
}

/// Whether routes can be nested under a path, beside the application's own routes.
fn is_mount(path: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
            // Clients remove these segments before they send a path (RFC 3986, section 5.2.4), so
            // the routes could not be reached.
            && !matches!(part, "." | "..")
    };

    let is_taken = ["/graphql", "/health", "/ready"].contains(&path);
    path.strip_prefix('/')
        .is_some_and(|rest| rest.split('/').all(is_plain))
        && !is_taken
}

#[cfg(test)]
mod tests {
    use super::is_mount;

    #[test]
    fn a_mount_is_a_plain_unused_path() {
        for good in ["/auth", "/api/v1/auth", "/~a.b-c_d"] {
            assert!(is_mount(good), "{good}");
        }

        for bad in [
            "", "/", "auth", "/auth/", "//auth", "/{id}", "/*rest", "/a b", "/..", "/graphql",
            "/health", "/ready",
        ] {
            assert!(!is_mount(bad), "{bad}");
        }
    }
}
