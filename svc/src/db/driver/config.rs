//! How to connect, as the database URL says. sqlx reads the URL and the environment, so that both pools agree.

use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::{Pem, Tls, Verify};

/// After how much silence the system asks whether the server is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Everything a new connection needs.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

impl Target {
    pub(super) fn new(options: &PgConnectOptions) -> Self {
        let hidden = Hidden::of(options);
        let mut config = Config::new();
        config.user(options.get_username()).port(options.get_port()).keepalives_idle(KEEPALIVE);
        let socket = socket(options);
        match &socket {
            Some(folder) => config.host_path(folder),
            // A URL writes an IPv6 address in brackets.
            None => config.host(options.get_host().trim_start_matches('[').trim_end_matches(']')),
        };
        if let Some(database) = options.get_database() {
            config.dbname(database);
        }
        if let Some(password) = &hidden.password {
            config.password(password);
        }
        if let Some(name) = options.get_application_name() {
            config.application_name(name);
        }
        config.options(settings(options));
        let mode = options.get_ssl_mode();
        config.ssl_mode(match mode {
            // PostgreSQL has no TLS on sockets; asking first would cost a round trip.
            PgSslMode::Prefer if socket.is_some() => SslMode::Disable,
            PgSslMode::Disable | PgSslMode::Allow => SslMode::Disable,
            PgSslMode::Prefer => SslMode::Prefer,
            PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull => SslMode::Require,
        });
        let verify = match mode {
            PgSslMode::VerifyFull => Verify::Name,
            PgSslMode::VerifyCa => Verify::Authority,
            _ => Verify::Nothing,
        };
        let Hidden { root, certificate, key, .. } = hidden;
        Self { config, tls: Tls { verify, root, certificate, key } }
    }
}

/// The folder of the server's socket.
fn socket(options: &PgConnectOptions) -> Option<std::path::PathBuf> {
    options.get_socket().cloned().or_else(|| options.get_host().starts_with('/').then(|| options.get_host().into()))
}

/// The settings of a session: those of the URL, then those that decide how PostgreSQL writes values as text.
fn settings(options: &PgConnectOptions) -> String {
    let given = options.get_options().unwrap_or_default();
    format!("{given} -c DateStyle=ISO -c TimeZone=UTC -c extra_float_digits=2")
}

/// What sqlx's options only show in their URL.
struct Hidden {
    password: Option<String>,
    root: Option<Pem>,
    certificate: Option<Pem>,
    key: Option<Pem>,
}

impl Hidden {
    fn of(options: &PgConnectOptions) -> Self {
        // Hosts that are folders, and users with a slash, cannot be written as a URL.
        let url = options.clone().host("localhost").username("user").to_url_lossy();
        let password =
            url.password().map(|text| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned());
        let pem = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| Pem::from_text(&value));
        Self { password, root: pem("sslrootcert"), certificate: pem("sslcert"), key: pem("sslkey") }
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    fn target(url: &str) -> Target {
        Target::new(&url.parse().unwrap())
    }

    #[test]
    fn a_url_over_tcp() {
        let target =
            target("postgres://me%2Fyou:p%40ss%2F1@db.example:5433/name?sslmode=verify-full&options[search_path]=app");
        let config = &target.config;
        assert_eq!((config.get_user(), config.get_dbname()), (Some("me/you"), Some("name")));
        assert_eq!(config.get_password(), Some(b"p@ss/1".as_slice()));
        assert_eq!(config.get_hosts(), [Host::Tcp("db.example".to_owned())]);
        assert_eq!(config.get_ports(), [5433]);
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        assert_eq!(target.tls.verify, Verify::Name);
        assert!(config.get_options().unwrap().starts_with("-c search_path=app "));
    }

    #[test]
    fn a_url_over_a_socket() {
        for url in ["postgres:///name?host=/run/pg&port=6000&user=me", "postgres://me@%2Frun%2Fpg:6000/name"] {
            let target = target(url);
            let folder = match target.config.get_hosts() {
                [Host::Unix(folder)] => folder,
                other => panic!("{other:?}"),
            };
            assert!(folder.starts_with("/run/pg"), "{folder:?}");
            assert_eq!(
                (target.config.get_ports(), target.config.get_ssl_mode()),
                ([6000].as_slice(), SslMode::Disable)
            );
        }
    }

    #[test]
    fn an_address_in_brackets() {
        assert_eq!(target("postgres://me@[::1]/name").config.get_hosts(), [Host::Tcp("::1".to_owned())]);
    }

    #[test]
    fn modes_are_those_of_sqlx() {
        for (mode, expected, verify) in [
            ("disable", SslMode::Disable, Verify::Nothing),
            ("allow", SslMode::Disable, Verify::Nothing),
            ("prefer", SslMode::Prefer, Verify::Nothing),
            ("require", SslMode::Require, Verify::Nothing),
            ("verify-ca", SslMode::Require, Verify::Authority),
            ("verify-full", SslMode::Require, Verify::Name),
        ] {
            let target = target(&format!("postgres://me@host/name?sslmode={mode}&sslrootcert=/etc/ca.pem"));
            assert_eq!((target.config.get_ssl_mode(), target.tls.verify), (expected, verify), "{mode}");
            assert_eq!(target.tls.root, Some(Pem::File("/etc/ca.pem".into())));
        }
    }
}
