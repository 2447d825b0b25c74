//! The token of a request (RFC 6750, section 2.1).

use axum::http::{HeaderMap, header};

/// The content of the header of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bearer<'a> {
    /// No bearer token. A header with another scheme is ignored.
    Absent,
    /// Not exactly one token, or a token that is too long.
    Malformed,
    /// The token as received; [`token68`] validates its characters.
    Token(&'a [u8]),
}

const SCHEME: &[u8] = b"bearer";

impl<'a> Bearer<'a> {
    /// Reads the token of a request. Two headers are malformed: a proxy might have read the other
    /// one.
    pub(crate) fn of(headers: &'a HeaderMap, longest: usize) -> Self {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let Some(value) = values.next() else {
            return Self::Absent;
        };
        if values.next().is_some() {
            return Self::Malformed;
        }

        let value = value.as_bytes();

        // The scheme is case-insensitive (RFC 9110, section 11.1).
        let end = value
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric())
            .unwrap_or(value.len());
        if !value[..end].eq_ignore_ascii_case(SCHEME) {
            return Self::Absent;
        }

        let rest = &value[end..];
        let token = rest.trim_ascii_start();

        // Only spaces separate scheme and token (RFC 9110, section 11.4); `trim_ascii_start`
        // accepts tabs as well.
        let is_separated =
            rest.first() == Some(&b' ') && !rest[..rest.len() - token.len()].contains(&b'\t');

        if !is_separated || token.is_empty() || token.len() > longest {
            return Self::Malformed;
        }

        Self::Token(token)
    }
}

/// Returns the token as text if it has only the allowed characters (RFC 9110, section 11.2). A
/// cached token passed this check before, so only new tokens are checked.
pub(crate) fn token68(token: &[u8]) -> Option<&str> {
    let fits = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
    };
    std::str::from_utf8(token)
        .ok()
        .filter(|_| token.iter().all(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&'static str]) -> &'static str {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }

        match Bearer::of(&headers, 8) {
            Bearer::Absent => "absent",
            Bearer::Malformed => "malformed",
            Bearer::Token(token) => token68(token).map_or("malformed", |token| {
                values
                    .iter()
                    .find_map(|value| value.find(token).map(|at| &value[at..]))
                    .unwrap()
            }),
        }
    }

    #[test]
    fn one_header_with_one_token_counts() {
        assert_eq!(of(&[]), "absent");
        for other in ["", "Basic YTpi", "Bearers x", "Bear x", "x", "DPoP x"] {
            assert_eq!(of(&[other]), "absent", "{other}");
        }

        for good in ["Bearer a.b-c", "bearer a.b-c", "BEARER  a.b-c"] {
            assert_eq!(of(&[good]), "a.b-c", "{good}");
        }

        for bad in [
            "Bearer",
            "Bearer ",
            "Bearer\ta",
            "Bearer \ta",
            "Bearer a b",
            "Bearer a,b",
            "Bearer \"a\"",
            "Bearer:a",
        ] {
            assert_eq!(of(&[bad]), "malformed", "{bad}");
        }

        assert_eq!(of(&["Bearer 12345678"]), "12345678");
        assert_eq!(of(&["Bearer 123456789"]), "malformed");
        assert_eq!(of(&["Bearer a", "Bearer a"]), "malformed");

        assert_eq!(of(&["Basic YTpi", "Bearer a"]), "malformed");
    }
}
