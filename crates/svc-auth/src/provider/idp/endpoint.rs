//! Addresses for sending secrets and fetching keys.

use std::net::IpAddr;

use axum::http::Uri;

/// An address of an identity provider: over https, or on the loopback interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint(Uri);

/// A text that is not such an address, with the violated requirement.
#[derive(Debug, thiserror::Error)]
#[error("{0} {1}")]
pub(super) struct BadEndpoint(pub(super) String, pub(super) &'static str);

impl Endpoint {
    pub(super) fn parse(text: &str) -> Result<Self, BadEndpoint> {
        let bad = |why| BadEndpoint(text.to_owned(), why);
        let uri: Uri = text
            .parse()
            .map_err(|_| bad("must be a URL, such as https://id.example"))?;
        let authority = uri
            .authority()
            .ok_or_else(|| bad("must be a URL with a host, such as https://id.example"))?;

        // The error does not quote this URL, as it contains a password.
        if authority.as_str().contains('@') {
            return Err(BadEndpoint(
                "the URL".to_owned(),
                "must not hold a user or a password",
            ));
        }

        match uri.scheme_str() {
            Some("https") => Ok(Self(uri)),
            Some("http") if is_loopback(authority.host()) => Ok(Self(uri)),
            _ => Err(bad(
                "must begin with https://, as keys and secrets go there",
            )),
        }
    }

    /// Whether the connection uses TLS; if not, the address is on this machine.
    pub(super) fn is_encrypted(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }

    /// The target of a redirect; `None` unless it has the same origin (RFC 6454, section 5).
    pub(super) fn redirected(&self, location: &str) -> Option<Self> {
        // A reference that begins with `//` names another host (RFC 3986, section 4.2).
        let target = if location.starts_with('/') && !location.starts_with("//") {
            let (scheme, authority) = (self.0.scheme_str()?, self.0.authority()?);
            Self::parse(&format!("{scheme}://{authority}{location}"))
        } else {
            Self::parse(location)
        };

        let same = |target: &Self| {
            target.0.scheme() == self.0.scheme() && target.0.authority() == self.0.authority()
        };

        target.ok().filter(same)
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn is_loopback(host: &str) -> bool {
    // `Uri` keeps the brackets of an IPv6 address.
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    host == "localhost"
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_by_tls_or_from_this_machine() {
        for good in [
            "https://id.example/keys",
            "http://127.0.0.1:80/",
            "http://[::1]/",
            "http://localhost:3000/x",
        ] {
            assert!(Endpoint::parse(good).is_ok(), "{good}");
        }

        for bad in [
            "",
            "id.example",
            "/keys",
            "ftp://id.example/",
            "http://id.example/",
            "http://127.0.0.1.example/",
            "https://user:hunter2@id.example/",
            "file:///etc/passwd",
        ] {
            let error = Endpoint::parse(bad).unwrap_err().to_string();
            assert!(
                error.contains("must") && !error.contains("hunter2"),
                "{error}"
            );
        }
    }

    #[test]
    fn redirects_stay_on_their_host() {
        let keys = Endpoint::parse("https://id.example/keys").unwrap();
        for good in ["/other", "https://id.example/other?x=1"] {
            assert!(keys.redirected(good).is_some(), "{good}");
        }

        for bad in [
            "//evil.example/",
            "https://evil.example/",
            "https://id.example:444/",
            "http://id.example/",
            "http://127.0.0.1/",
            "https://id.example@evil.example/",
            "other",
            "",
        ] {
            assert!(keys.redirected(bad).is_none(), "{bad}");
        }
    }
}
