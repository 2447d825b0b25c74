//! The configuration of connections, from the database URL and libpq's environment variables, for
//! both pools.

mod given;
mod parameter;
mod passfile;
mod read;
#[cfg(test)]
mod tests;
mod tls;
mod url;

use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use tokio_postgres::config::ChannelBinding;

pub use given::Variable;
#[cfg(any(feature = "sqlx", feature = "tls"))]
pub(super) use tls::{Pem, Verify};
pub(super) use tls::{TlsConfig, TlsMode};

/// The port in the name of the socket that a proxy listens on.
#[cfg(feature = "sqlx")]
pub(super) const PROXY_PORT: u16 = 5432;

/// The connection parameters of the URL.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectConfig {
    /// In the order of attempts; at least one.
    pub(super) hosts: Vec<HostConfig>,
    pub(super) balance: bool,
    pub session: SessionTarget,
    pub user: String,
    pub(super) password: Option<String>,
    pub database: Option<String>,
    pub(super) application_name: Option<String>,
    /// The start-up options, such as `-c search_path=app`.
    pub(super) options: String,
    pub(super) channel_binding: ChannelBinding,
    pub(super) tls: TlsConfig,
    /// `None` if unset, zero to disable the time-out; the same applies to the times below.
    pub(super) connect_timeout: Option<Duration>,
    pub(super) socket: SocketConfig,
}

/// One of the servers.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct HostConfig {
    /// A name, an address, or the directory of a socket.
    pub(super) name: Option<String>,
    /// The address of the host, if no look-up is needed.
    pub(super) address: Option<IpAddr>,
    pub(super) port: u16,
}

/// The options for the system's monitoring of TCP connections; `None` if the URL does not set one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SocketConfig {
    pub(super) keepalives: Option<bool>,
    pub(super) keepalives_idle: Option<Duration>,
    pub(super) keepalives_interval: Option<Duration>,
    pub(super) keepalives_count: Option<u32>,
    pub(super) tcp_user_timeout: Option<Duration>,
}

/// The kind of server to select from several: `target_session_attrs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionTarget {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

impl HostConfig {
    /// The directory of the server's socket, if it has one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.name
            .as_deref()
            .filter(|name| name.starts_with('/') && self.address.is_none())
            .map(Path::new)
    }

    /// The name required in the server's certificate.
    pub(super) fn certified_name(&self) -> String {
        self.name
            .clone()
            .or_else(|| Some(self.address?.to_string()))
            .unwrap_or_default()
    }
}

impl SessionTarget {
    /// Whether a server is of this kind.
    pub(super) fn accepts(self, is_standby: bool, is_read_only: bool) -> bool {
        match self {
            Self::Any => true,
            Self::ReadWrite => !is_read_only,
            Self::ReadOnly => is_read_only,
            Self::Primary => !is_standby,
            Self::Standby | Self::PreferStandby => is_standby,
        }
    }
}

impl ConnectConfig {
    /// The same with an additional session setting.
    pub(super) fn setting(mut self, name: &str, value: &str) -> Self {
        push_setting(&mut self.options, name, value);
        self
    }

    /// The same for statements on the catalog, which are planned as their tables require,
    /// regardless of the database's settings for application statements.
    pub(super) fn for_catalog(self) -> Self {
        const METHODS: [&str; 10] = [
            "enable_seqscan",
            "enable_indexscan",
            "enable_indexonlyscan",
            "enable_bitmapscan",
            "enable_nestloop",
            "enable_hashjoin",
            "enable_mergejoin",
            "enable_hashagg",
            "enable_sort",
            "enable_material",
        ];

        METHODS
            .iter()
            .fold(self.setting("jit", "off"), |config, method| {
                config.setting(method, "on")
            })
    }

    /// The same without start-up options.
    #[cfg(feature = "sqlx")]
    pub(super) fn without_options(&self) -> Self {
        Self {
            options: String::new(),
            ..self.clone()
        }
    }

    /// Returns the location of the database, without the password.
    pub fn place(&self) -> String {
        self.place_with(false)
    }

    /// The same, and whether there is a password.
    fn place_with(&self, has_password: bool) -> String {
        // With a colon, it may be a user and a password that were escaped together.
        let (user, has_password) = match self.user.split_once(':') {
            Some((user, _)) => (user, true),
            None => (self.user.as_str(), has_password),
        };

        // A name with separators may be the rest of a URL with a password.
        let database = match self.database.as_deref() {
            Some(name) if name.contains(['@', ':', '=']) => "***",
            name => name.unwrap_or_default(),
        };

        let password = if has_password { ":***" } else { "" };
        let hosts: Vec<_> = self.hosts.iter().map(HostConfig::place).collect();
        format!("{user}{password}@{}/{database}", hosts.join(","))
    }

    /// A database URL that is safe to display. The environment and files are not read.
    pub fn shown(url: &str) -> String {
        let after_host = url
            .split_once("://")
            .and_then(|(_, rest)| rest.split_once(['/', '?']));

        // Everything before such an `@` may be a password with a `/` or a `?`.
        if after_host.is_some_and(|(_, rest)| rest.contains('@')) {
            return "***".to_owned();
        }

        let Ok(config) = Self::parse(url, &|_| None) else {
            return "***".to_owned();
        };

        format!(
            "postgres://{}",
            config.place_with(config.password.is_some())
        )
    }
}

impl HostConfig {
    fn place(&self) -> String {
        match (self.folder(), &self.name) {
            (Some(folder), _) => folder.display().to_string(),
            // No host has such a name, so it may be the rest of a URL with a password.
            (None, Some(name)) if name.contains('@') => "***".to_owned(),
            (None, Some(name)) if name.contains(':') => format!("[{name}]:{}", self.port),
            _ => format!("{}:{}", self.certified_name(), self.port),
        }
    }
}

/// Appends a setting to start-up options, where spaces separate words.
pub(super) fn push_setting(options: &mut String, name: &str, value: &str) {
    if !options.is_empty() {
        options.push(' ');
    }

    options.push_str("-c ");

    for char in name.chars().chain(['=']).chain(value.chars()) {
        if char.is_whitespace() || char == '\\' {
            options.push('\\');
        }
        // Writing to a string cannot fail.
        let _ = options.write_char(char);
    }
}

/// Shows the location of the database, and how connections are protected.
impl std::fmt::Debug for ConnectConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectConfig")
            .field("place", &self.place())
            .field("session", &self.session)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}
