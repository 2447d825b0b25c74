//! The options of a database.

use std::path::PathBuf;

/// The options by which a [`Database`](crate::Database) is started.
///
/// ```
/// use svc_embedded::Options;
///
/// let options = Options::new(".svc").tcp(true).setting("log_statement", "all");
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Options {
    pub(crate) root: Option<PathBuf>,
    pub(crate) tcp: Tcp,
    pub(crate) binaries: Option<PathBuf>,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) user_namespace: bool,
    pub(crate) role: Option<String>,
}

/// Whether the server listens on loopback, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tcp {
    Off,
    FreePort,
    Port(u16),
}

impl Options {
    /// Creates options for a cluster that stays: in `<data_root>/postgres`, made on the first start.
    ///
    /// The root is usually a project's `.svc/` folder. When it lies where the server's user can't
    /// reach it, the cluster goes to a private folder in `/tmp` that is named after the root.
    pub fn new(data_root: impl Into<PathBuf>) -> Self {
        Self { root: Some(data_root.into()), ..Self::temporary() }
    }

    /// Creates options for a cluster that is removed when the [`Database`](crate::Database) stops or is dropped.
    ///
    /// What a killed program leaves behind is removed by the next start of a temporary cluster.
    pub fn temporary() -> Self {
        Self { root: None, tcp: Tcp::Off, binaries: None, settings: Vec::new(), user_namespace: true, role: None }
    }

    /// Listens on this loopback port as well; `None` for the unix socket only, the default.
    ///
    /// The cluster trusts whoever connects, so every user of this machine can then use it.
    pub fn port(mut self, port: Option<u16>) -> Self {
        self.tcp = port.map_or(Tcp::Off, Tcp::Port);
        self
    }

    /// Listens on a free loopback port as well. The port is outside the range that the system hands to outgoing
    /// connections, so it is still free after a restart.
    ///
    /// The cluster trusts whoever connects, so every user of this machine can then use it.
    pub fn tcp(mut self, on: bool) -> Self {
        self.tcp = if on { Tcp::FreePort } else { Tcp::Off };
        self
    }

    /// Names the folder that holds `postgres` and `initdb`, instead of a search. Wins over `SVC_PG_BIN`.
    pub fn binaries(mut self, folder: impl Into<PathBuf>) -> Self {
        self.binaries = Some(folder.into());
        self
    }

    /// Sets the number of connections that the server accepts; PostgreSQL's default is 100.
    pub fn max_connections(self, count: u32) -> Self {
        self.setting("max_connections", count.to_string())
    }

    /// Sets any server setting, as in `postgresql.conf`. The last one of a name wins, over this crate's own `fsync=off`
    /// too, but not over the addresses it listens on.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Names an ordinary role, made if there is none of that name, which the program's requests run as:
    /// [`Database::role_url`](crate::Database::role_url). Row-level security binds it, as it does not bind the
    /// superuser `postgres`, who owns what the program sets up.
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.role = Some(name.into());
        self
    }

    /// Whether the server may run in a user namespace when the program runs as root (the default).
    /// Without one it runs as the user `postgres` or `nobody`, which then owns the data.
    pub fn user_namespace(mut self, allowed: bool) -> Self {
        self.user_namespace = allowed;
        self
    }
}
