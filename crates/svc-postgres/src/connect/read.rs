//! Reads the configuration from a URL.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::config::ChannelBinding;

use super::given::{Given, Variable};
use super::tls::{TlsConfig, TlsMode};
use super::url::{self, BadUrl};
use super::{ConnectConfig, HostConfig, SessionTarget, SocketConfig, passfile};

const PORT: u16 = 5432;

/// The directories where servers place their sockets.
const SOCKET_FOLDERS: [&str; 3] = ["/var/run/postgresql", "/private/tmp", "/tmp"];

const SECOND: Duration = Duration::from_secs(1);

const TARGETS: [(&str, SessionTarget); 6] = [
    ("any", SessionTarget::Any),
    ("read-write", SessionTarget::ReadWrite),
    ("read-only", SessionTarget::ReadOnly),
    ("primary", SessionTarget::Primary),
    ("standby", SessionTarget::Standby),
    ("prefer-standby", SessionTarget::PreferStandby),
];

const BINDINGS: [(&str, ChannelBinding); 3] = [
    ("disable", ChannelBinding::Disable),
    ("prefer", ChannelBinding::Prefer),
    ("require", ChannelBinding::Require),
];

impl ConnectConfig {
    /// Reads a URL, and libpq's environment variables for the parameters that it omits.
    ///
    /// # Errors
    /// When a parameter is malformed, unknown or not supported.
    pub fn parse(url: &str, variable: Variable<'_>) -> Result<Self, BadUrl> {
        let given = Given::new(url::split(url)?, variable)?;
        let tls = TlsConfig::read(&given)?;
        let user = match given.text("user") {
            Some(user) => user.to_owned(),
            None => whoami::username().unwrap_or_else(|_| "unknown".to_owned()),
        };

        let database = given.text("dbname").map(str::to_owned);
        let hosts = hosts(&given)?;
        let password = password(&given, &hosts, database.as_deref().unwrap_or(&user), &user)?;
        let name = given
            .text("application_name")
            .or_else(|| given.text("fallback_application_name"));

        Ok(Self {
            hosts,
            balance: given
                .choice(
                    "load_balance_hosts",
                    &[("disable", false), ("random", true)],
                )?
                .unwrap_or_default(),
            session: given
                .choice("target_session_attrs", &TARGETS)?
                .unwrap_or(SessionTarget::Any),
            user,
            password,
            database,
            application_name: name.map(str::to_owned),
            options: given.options(),
            channel_binding: channel_binding(&given)?,
            tls,
            connect_timeout: given.time("connect_timeout", SECOND)?,
            socket: SocketConfig::read(&given)?,
        })
    }
}

fn channel_binding(given: &Given) -> Result<ChannelBinding, BadUrl> {
    if cfg!(feature = "sqlx") && given.text("channel_binding") == Some("require") {
        return Err(given.refuse(
            "channel_binding",
            "cannot be require, as statements of resolvers go through sqlx, which cannot do it; sslmode=verify-full \
             keeps others from standing between as well, or do without the feature `sqlx`",
        ));
    }

    Ok(given
        .choice("channel_binding", &BINDINGS)?
        .unwrap_or(ChannelBinding::Prefer))
}

impl SocketConfig {
    fn read(given: &Given) -> Result<Self, BadUrl> {
        let count = given
            .number("keepalives_count")?
            .and_then(|count| u32::try_from(count).ok());
        Ok(Self {
            keepalives: given.number("keepalives")?.map(|on| on != 0),
            // Zero selects the system's default.
            keepalives_idle: given
                .time("keepalives_idle", SECOND)?
                .filter(|time| !time.is_zero()),
            keepalives_interval: given
                .time("keepalives_interval", SECOND)?
                .filter(|time| !time.is_zero()),
            keepalives_count: count.filter(|count| *count > 0),
            tcp_user_timeout: given.time("tcp_user_timeout", Duration::from_millis(1))?,
        })
    }
}

fn hosts(given: &Given) -> Result<Vec<HostConfig>, BadUrl> {
    let (names, addresses, ports) = (
        given.list("host"),
        given.list("hostaddr"),
        given.list("port"),
    );

    let count = names.len().max(addresses.len()).max(1);
    for (name, list) in [("host", &names), ("hostaddr", &addresses)] {
        if !list.is_empty() && list.len() != count {
            return Err(given.refuse(
                name,
                &format!("has {} parts, and there are {count} hosts", list.len()),
            ));
        }
    }

    if ports.len() > 1 && ports.len() != count {
        return Err(given.refuse(
            "port",
            &format!("has {} parts, and there are {count} hosts", ports.len()),
        ));
    }

    (0..count)
        .map(|index| {
            // As in libpq, a single port applies to all hosts.
            let port = port(
                given,
                ports
                    .get(index)
                    .or(ports.first())
                    .copied()
                    .unwrap_or_default(),
            )?;

            let address = address(given, addresses.get(index).copied().unwrap_or_default())?;
            let name = names
                .get(index)
                .filter(|name| !name.is_empty())
                .map(|name| (*name).to_owned());
            let name = if address.is_none() {
                name.or_else(|| Some(default_host(port)))
            } else {
                name
            };

            Ok(HostConfig {
                name,
                address,
                port,
            })
        })
        .collect()
}

fn port(given: &Given, text: &str) -> Result<u16, BadUrl> {
    if text.is_empty() {
        return Ok(PORT);
    }
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| given.refuse("port", "must be a number from 1 to 65535"))
}

fn address(given: &Given, text: &str) -> Result<Option<IpAddr>, BadUrl> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|_| given.refuse("hostaddr", "must be an IP address"))
}

/// The directory of an existing socket, or else `localhost`.
fn default_host(port: u16) -> String {
    let is_there = |folder: &&&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_FOLDERS
        .iter()
        .find(is_there)
        .copied()
        .unwrap_or("localhost")
        .to_owned()
}

/// The given password, or else the one from the password file.
fn password(
    given: &Given,
    hosts: &[HostConfig],
    database: &str,
    user: &str,
) -> Result<Option<String>, BadUrl> {
    if let Some(password) = given.text("password") {
        return Ok(Some(password.to_owned()));
    }

    let file = given
        .text("passfile")
        .map(PathBuf::from)
        .or_else(|| Some(given.home()?.join(".pgpass")));
    let Some(text) = file.and_then(|file| passfile::read(&file)) else {
        return Ok(None);
    };

    let mut passwords: Vec<_> = hosts
        .iter()
        .map(|host| passfile::password(&text, host, database, user))
        .collect();
    passwords.dedup();

    match passwords.as_mut_slice() {
        [password] => Ok(password.take()),
        _ => Err(given.refuse(
            "passfile",
            "has different passwords for the hosts; a user needs the same on all of them",
        )),
    }
}

impl ConnectConfig {
    /// Whether connections to this host are encrypted at all: local sockets are not, as in libpq.
    pub(crate) fn tls_mode(&self, host: &HostConfig) -> TlsMode {
        // Without the feature, encryption that is merely preferred cannot be requested.
        let is_plain = host.folder().is_some()
            || (cfg!(not(feature = "tls")) && self.tls.mode == TlsMode::Prefer);
        if is_plain {
            TlsMode::Disable
        } else {
            self.tls.mode
        }
    }
}
