//! Database URLs, with the TLS parameters that the driver does not support.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::hint;
use crate::failure::{Failure, Result};

/// The reason if a URL has a character in its password that must be encoded.
const EARLY_END: &str = "a character of the password ends it early";

/// A database to connect to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    config: Config,
    /// A file with the authorities that may sign the server's certificate; without it, the public
    /// ones.
    pub(super) authorities: Option<PathBuf>,
    /// Whether a part of the password may have been parsed as a part of the address.
    pub(super) is_ambiguous: bool,
}

impl Target {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let bad = |why: String| unreadable(url, &why);
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(bad("it does not start with postgresql://".to_owned()));
        }

        // The driver rejects parameters that it does not know, such as `sslrootcert`.
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let mut authorities = None;
        let mut mode = None;
        let mut others = Vec::new();

        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslrootcert", file)) => {
                    authorities = Some(PathBuf::from(file.replace("%2F", "/")));
                }
                Some(("sslmode", value)) => mode = Some(ssl_mode(value).map_err(bad)?),
                _ => others.push(parameter),
            }
        }

        let rest = if others.is_empty() {
            String::new()
        } else {
            format!("?{}", others.join("&"))
        };

        let mut config: Config =
            format!("{place}{rest}")
                .parse()
                .map_err(|error: tokio_postgres::Error| {
                    bad(std::error::Error::source(&error)
                        .map_or_else(|| error.to_string(), ToString::to_string))
                })?;

        // A local server often has a self-signed certificate.
        let is_here = Self {
            config: config.clone(),
            authorities: None,
            is_ambiguous: false,
        }
        .is_local();

        config.ssl_mode(mode.unwrap_or(if is_here {
            SslMode::Disable
        } else {
            SslMode::Prefer
        }));

        config.application_name("svc");

        Ok(Self {
            config,
            authorities,
            is_ambiguous: is_ambiguous(url),
        })
    }

    /// The driver's configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.config.get_hosts().iter().all(|host| match host {
            Host::Tcp(host) => {
                host == "localhost"
                    || host
                        .parse()
                        .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
            }
            Host::Unix(_) => true,
        })
    }

    /// The port.
    pub(crate) fn port(&self) -> u16 {
        self.config.get_ports().first().copied().unwrap_or(5432)
    }

    /// The user.
    pub(crate) fn user(&self) -> &str {
        self.config.get_user().unwrap_or("postgres")
    }

    /// The name of the database.
    pub(crate) fn database(&self) -> &str {
        super::public(self.config.get_dbname().unwrap_or_else(|| self.user()))
    }

    /// Another database on the same server.
    pub(crate) fn with_database(&self, name: &str) -> Self {
        let mut target = self.clone();
        target.config.dbname(name);
        target
    }
}

/// Splits a URL into one without a password, and the password.
pub(crate) fn without_password(url: &str) -> Result<(String, Option<OsString>)> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(unreadable(url, "it does not start with postgresql://"));
    };

    // The first `@` ends the password, as in the driver.
    let (credentials, place) = match rest.split_once('@') {
        Some((credentials, place)) => (Some(credentials), place),
        None => (None, rest),
    };

    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    if place.contains('@') {
        return Err(unreadable(url, EARLY_END));
    }

    let mut password = None;
    let user = credentials.map(|credentials| {
        let (user, given) = credentials.split_once(':').unwrap_or((credentials, ""));
        password = Some(given);
        format!("{user}@")
    });

    let mut others = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("password", value)) => password = Some(value),
            _ => others.push(parameter),
        }
    }

    let mut url = format!("{scheme}://{}{place}", user.unwrap_or_default());
    if !others.is_empty() {
        url = format!("{url}?{}", others.join("&"));
    }

    let password = password.filter(|password| !password.is_empty());

    Ok((url, password.map(decoded)))
}

/// A part of a URL without its percent-encoding.
fn decoded(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        if let Some(code) = digits.and_then(|digits| hex::decode(digits).ok()) {
            bytes.extend(code);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }

    OsString::from_vec(bytes)
}

fn unreadable(url: &str, why: &str) -> Failure {
    // The driver's message may quote a part of the password.
    let why = if is_ambiguous(url) { EARLY_END } else { why };
    Failure::new(format!("the database URL is not valid: {why}"))
        .hint("write it as postgresql://user:password@host:5432/name")
        .hints(is_ambiguous(url).then(|| hint::CREDENTIALS.to_owned()))
}

/// Whether the part before the last `@` has characters that end a password in a URL early.
fn is_ambiguous(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.rsplit_once('@')
        .is_some_and(|(before, _)| before.contains(['@', '/', '?', '#']))
}

/// A mode of libpq. When the driver encrypts, it verifies the certificate and the host, as for
/// `verify-full`.
fn ssl_mode(value: &str) -> Result<SslMode, String> {
    match value {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err(format!(
            "sslmode is disable, prefer, require, verify-ca or verify-full, not `{value}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_modes_mean_the_same_as_in_libpq() {
        let mode = |url: &str| Target::parse(url).unwrap().config.get_ssl_mode();
        assert_eq!(
            mode("postgresql://a@db.example.org/shop?sslmode=verify-full"),
            SslMode::Require
        );
        assert_eq!(mode("postgresql://a@db.example.org/shop"), SslMode::Prefer);
        assert_eq!(mode("postgresql://a@localhost/shop"), SslMode::Disable);
        assert!(Target::parse("postgresql://a@localhost/shop?sslmode=never").is_err());

        assert!(Target::parse("mysql://a@localhost/shop").is_err());
    }

    #[test]
    fn no_part_of_a_password_is_shown() {
        for password in [
            "p@sesame",
            "p@:sesame",
            "1/sesame",
            "p#sesame",
            "p?sesame",
            "p?sesame=x",
            "p?sslmode=sesame",
            "a:sesame",
            "@@sesame@",
        ] {
            let url = format!("postgresql://svc:{password}@db.example.org:54320/helpdesk");
            let shown = match Target::parse(&url) {
                Ok(target) => {
                    format!(
                        "{} {} {}",
                        super::super::shown(target.config()),
                        target.database(),
                        target.user()
                    )
                }
                Err(failure) => failure.message().to_owned(),
            };
            assert!(!shown.contains("sesame"), "{password}: {shown}");
        }
    }

    #[test]
    fn passwords_are_taken_out_of_urls() {
        for (url, rest, password) in [
            (
                "postgresql://ada:p%40%3A%25x%zz@db.example.org:5432/shop?sslmode=require",
                "postgresql://ada@db.example.org:5432/shop?sslmode=require",
                Some("p@:%x%zz"),
            ),
            (
                "postgres://ada@[::1]/shop?password=a%20b&application_name=x",
                "postgres://ada@[::1]/shop?application_name=x",
                Some("a b"),
            ),
            (
                "postgresql://ada:1/2?3@db/shop",
                "postgresql://ada@db/shop",
                Some("1/2?3"),
            ),
            ("postgresql:///shop", "postgresql:///shop", None),
            (
                "postgresql://ada:@db/shop?password=",
                "postgresql://ada@db/shop",
                None,
            ),
        ] {
            let (found, secret) = without_password(url).unwrap();
            assert_eq!(
                (found.as_str(), secret),
                (rest, password.map(OsString::from)),
                "{url}"
            );
        }

        // The rest of it would be an argument that others can read.
        assert!(without_password("postgresql://ada:p@sesame@db/shop").is_err());
        assert!(without_password("host=db password=sesame").is_err());
    }

    #[test]
    fn parts_have_defaults() {
        let target = Target::parse("postgres://ada@127.0.0.1").unwrap();
        assert_eq!(
            (
                target.user(),
                target.database(),
                target.port(),
                target.is_local()
            ),
            ("ada", "ada", 5432, true)
        );

        assert!(
            !Target::parse("postgres://ada@db.example.org/x")
                .unwrap()
                .is_local()
        );
    }
}
