//! The configuration of connections, for sqlx.

use std::path::Path;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio_postgres::config::SslNegotiation;
use url::Url;

use crate::connect::{
    ConnectConfig, HostConfig, PROXY_PORT, Pem, SessionTarget, SocketConfig, TlsConfig, TlsMode,
    Verify,
};

impl ConnectConfig {
    /// Whether sqlx can connect by itself. It supports one host, always trusts the public
    /// authorities, and leaves socket options at the system's defaults.
    pub(crate) fn suits_sqlx(&self) -> bool {
        let [host] = self.hosts.as_slice() else {
            return false;
        };

        let is_local = host.folder().is_some();
        let has_time = self.connect_timeout.is_some_and(|time| !time.is_zero());
        let is_bounded = has_time || self.socket != SocketConfig::default();

        // sqlx cannot connect to an address and check the certificate for a name.
        let is_named = host.address.is_none() || host.name.is_none();

        self.session == SessionTarget::Any
            && self.unwanted_options().is_none()
            && (is_local || (is_named && self.tls.is_plain() && !is_bounded))
    }

    /// The start-up options that sqlx reads from the environment, if they are not among the
    /// configured ones: they do not apply to an embedded database, and a URL may replace them.
    pub(crate) fn unwanted_options(&self) -> Option<String> {
        let options = PgConnectOptions::new_without_pgpass();
        let taken = options.get_options().filter(|taken| !taken.is_empty())?;
        (!self.options.starts_with(taken)).then(|| taken.to_owned())
    }

    /// The options of sqlx, which connects by itself, or to the socket in a directory.
    pub(crate) fn pool_options(&self, proxy: Option<&Path>) -> PgConnectOptions {
        let mut options = self
            .with_start_up_options()
            .username(&self.user)
            .statement_cache_capacity(1_000);
        if let Some(database) = &self.database {
            options = options.database(database);
        }

        if let Some(name) = &self.application_name {
            options = options.application_name(name);
        }

        // Without a password, sqlx sends an empty one as well.
        options = options.password(self.password.as_deref().unwrap_or_default());

        match (proxy, self.hosts.as_slice()) {
            (None, [host, ..]) => self.without_proxy(host, options),
            // The proxy encrypts its connection to the server; the socket is local.
            (Some(folder), _) => options
                .socket(folder)
                .port(PROXY_PORT)
                .ssl_mode(PgSslMode::Disable),
            (None, []) => options,
        }
    }

    /// sqlx reads start-up options from the environment itself, and accepts others as a whole only
    /// from a URL. A URL without a password would make it look for the password file.
    fn with_start_up_options(&self) -> PgConnectOptions {
        let options = PgConnectOptions::new_without_pgpass();
        let known = options.get_options().unwrap_or_default();
        let rest = self
            .options
            .strip_prefix(known)
            .unwrap_or(&self.options)
            .trim_start();

        if rest.is_empty() {
            return options;
        }

        let url = Url::parse_with_params("postgres://user:none@localhost", [("options", rest)]);

        url.ok()
            .and_then(|url| PgConnectOptions::from_url(&url).ok())
            .unwrap_or(options)
    }

    fn without_proxy(&self, host: &HostConfig, options: PgConnectOptions) -> PgConnectOptions {
        if let Some(folder) = host.folder() {
            return options
                .socket(folder)
                .port(host.port)
                .ssl_mode(PgSslMode::Disable);
        }

        let mut options = options
            .host(&host.certified_name())
            .port(host.port)
            .ssl_mode(match self.tls.mode {
                TlsMode::Disable => PgSslMode::Disable,
                TlsMode::Prefer => PgSslMode::Prefer,
                TlsMode::Require if self.tls.verify == Verify::Name => PgSslMode::VerifyFull,
                TlsMode::Require => PgSslMode::Require,
            });

        if let Some((certificate, key)) = &self.tls.identity {
            options = match certificate {
                Pem::Inline(text) => options.ssl_client_cert_from_pem(text),
                Pem::File(path) => options.ssl_client_cert(path),
            };
            options = match key {
                Pem::Inline(text) => options.ssl_client_key_from_pem(text),
                Pem::File(path) => options.ssl_client_key(path),
            };
        }

        options
    }
}

impl TlsConfig {
    /// Whether sqlx does the same by itself. It always trusts the public authorities.
    fn is_plain(&self) -> bool {
        self.negotiation == SslNegotiation::Postgres
            && self.versions == [true, true]
            && (self.mode == TlsMode::Disable
                || self.verify == Verify::Nothing
                || (self.verify == Verify::Name
                    && self.root.is_none()
                    && !names_root_in_environment()))
    }
}

/// sqlx reads this itself, and as the name of a file.
fn names_root_in_environment() -> bool {
    std::env::var_os("PGSSLROOTCERT").is_some()
}
