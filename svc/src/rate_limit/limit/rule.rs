//! Rules: limits for paths.

use percent_encoding::percent_decode_str;

use super::RateLimit;

/// The message of a limit without its own.
pub(in crate::rate_limit) const MESSAGE: &str = "too many requests; try again later";

/// The paths of GraphQL.
pub(in crate::rate_limit) const GRAPHQL: &str = "/graphql/*";
/// The path of the endpoint.
pub(in crate::rate_limit) const ENDPOINT: &str = "/graphql";

/// A limit for the requests to some paths.
///
/// ```
/// use svc::rate_limit::{RateLimit, RateLimitRule};
///
/// let rule = RateLimitRule::new("/reports/*", RateLimit::requests(5).per_minute())
///     .message("five reports a minute are enough");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a rule does nothing by itself"]
pub struct RateLimitRule {
    pub(in crate::rate_limit) path_pattern: String,
    pub(in crate::rate_limit) limits: Vec<RateLimit>,
    pub(in crate::rate_limit) message: String,
}

impl RateLimitRule {
    /// Creates a rule for the paths of a pattern. Each `*` matches any text, including none, and
    /// `/auth/*` also matches `/auth`. If several patterns match, the one with the longest text
    /// before its first `*` applies, then the first.
    pub fn new(path_pattern: impl Into<String>, rate_limit: RateLimit) -> Self {
        Self {
            path_pattern: path_pattern.into(),
            limits: vec![rate_limit],
            message: MESSAGE.to_owned(),
        }
    }

    /// Adds another limit, which must admit the request as well.
    pub fn and(mut self, rate_limit: RateLimit) -> Self {
        self.limits.push(rate_limit);
        self
    }

    /// Sets the message for limited clients.
    pub fn message(self, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..self
        }
    }

    /// Returns the pattern of the paths.
    pub(in crate::rate_limit) fn pattern(&self) -> PathPattern {
        PathPattern(self.path_pattern.to_ascii_lowercase())
    }
}

/// A pattern of paths; each `*` matches any text.
#[derive(Debug)]
pub(in crate::rate_limit) struct PathPattern(String);

impl PathPattern {
    /// Whether the pattern matches the path, which is normalized.
    pub(in crate::rate_limit) fn matches(&self, path: &str) -> bool {
        self.0.strip_suffix("/*") == Some(path) || fits(&self.0, path)
    }

    /// Returns the pattern without the `/*` at its end.
    pub(in crate::rate_limit) fn literal(&self) -> &str {
        self.0.strip_suffix("/*").unwrap_or(&self.0)
    }

    /// Returns the length of the text before the first `*`. Of two equal lengths, the pattern
    /// without `*` is more specific.
    pub(in crate::rate_limit) fn precedence(&self) -> (usize, bool) {
        let literal = self.literal();
        (
            literal.find('*').unwrap_or(literal.len()),
            !self.0.contains('*'),
        )
    }
}

/// The routes of accounts that accept a token and no password. Tokens that these routes reject are
/// counted as failed attempts by the accounts themselves.
const WITH_TOKEN: [&str; 6] = [
    "/auth/me",
    "/auth/refresh",
    "/auth/logout",
    "/auth/logout-all",
    "/auth/sessions",
    "/auth/sessions/*",
];

/// Returns the rules of a service without its own, per client: `/graphql` and paths below it 60 per
/// minute; attempts to log in, to register and to set a password (`/auth/*`) 5 in five minutes;
/// each route of accounts that only accepts a token 100 per minute; `/api/*` 100 per minute.
pub fn create_default_rate_limit_rules() -> Vec<RateLimitRule> {
    let five_minutes = std::time::Duration::from_secs(300);
    let mut rules = vec![
        RateLimitRule::new(GRAPHQL, RateLimit::requests(60).per_minute()),
        RateLimitRule::new("/auth/*", RateLimit::requests(5).per(five_minutes)),
        RateLimitRule::new("/api/*", RateLimit::requests(100).per_minute()),
    ];

    rules.extend(
        WITH_TOKEN.map(|path| RateLimitRule::new(path, RateLimit::requests(100).per_minute())),
    );

    rules
}

/// Whether one of the rules applies to the endpoint.
pub(in crate::rate_limit) fn is_about_graphql(rules: &[RateLimitRule]) -> bool {
    rules.iter().any(|rule| rule.pattern().matches(ENDPOINT))
}

/// Returns the default rules except that of GraphQL, whose limits come from the settings.
pub(in crate::rate_limit) fn rules_beside_graphql() -> Vec<RateLimitRule> {
    create_default_rate_limit_rules()
        .into_iter()
        .filter(|rule| rule.path_pattern != GRAPHQL)
        .collect()
}

/// Normalizes a path for rules: removes differences in spelling that other parts of a service may
/// ignore.
pub(in crate::rate_limit) fn normalized(path: &str) -> std::borrow::Cow<'_, str> {
    let mut before = b'/';
    let is_plain = path.bytes().skip(1).all(|byte| {
        let starts_segment = std::mem::replace(&mut before, byte) == b'/';
        !matches!(
            (starts_segment, byte),
            (true, b'/' | b'.') | (_, b'%' | b'\\' | b'A'..=b'Z')
        )
    });

    // Most paths are plain, and are not copied.
    if is_plain && before != b'/' {
        return path.into();
    }

    let mut decoded = path.to_owned();

    // Decode twice, as a proxy may have decoded a doubly encoded path once.
    for _ in 0..2 {
        decoded = percent_decode_str(&decoded)
            .decode_utf8_lossy()
            .into_owned();
    }

    let decoded = decoded.replace('\\', "/").to_ascii_lowercase();
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            // Above the root, `..` means the root (RFC 3986, section 5.2.4).
            ".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }

    format!("/{}", segments.join("/")).into()
}

/// Whether a text matches a pattern; each `*` matches any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };

    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };

    let mut rest = rest;

    // The first match of each part leaves the most text to the others, so no other match has to be
    // tried.
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }

    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_their_paths() {
        let fit = |pattern: &str, path: &str| {
            RateLimitRule::new(pattern, RateLimit::requests(1))
                .pattern()
                .matches(path)
        };

        assert!(
            fit("/auth/*", "/auth/login") && fit("/auth/*", "/auth") && !fit("/auth/*", "/authors")
        );
        assert!(fit("/graphql", "/graphql") && !fit("/graphql", "/graphql/rust"));
        assert!(
            fit("/api/*/export", "/api/v1/posts/export")
                && !fit("/api/*/export", "/api/v1/exports")
        );
        assert!(fit("*", "/anything") && fit("/a*a", "/aa") && !fit("/a*a", "/a"));

        assert!(fit("/API/*", "/api/x"));
    }

    #[test]
    fn spellings_of_a_path_are_one() {
        for path in [
            "/api/x",
            "//api//x",
            "/api/x/",
            "/%61pi/x",
            "/%2561pi/x",
            "/API/X",
            "/y/../api/./x",
            "\\api\\x",
        ] {
            assert_eq!(normalized(path), "/api/x", "{path}");
        }

        assert_eq!(normalized("/"), "/");
        assert_eq!(normalized("/../.."), "/");
    }
}
