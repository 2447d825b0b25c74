//! The options of a database.

use std::path::PathBuf;

/// The variable with the folder of [`Options::initdb_cache`].
const INITDB_CACHE: &str = "SVC_PG_INITDB_CACHE";

/// The options of a [`Database`](crate::Database).
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
    pub(crate) initdb_cache: Option<PathBuf>,
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
    /// Creates options for a permanent cluster in `<data_root>/postgres`, created on the first
    /// start.
    ///
    /// The root is usually a project's `.svc/` folder. If the server's user can't reach it, the
    /// cluster goes to a private folder in `/tmp` whose name is derived from the root.
    pub fn new(data_root: impl Into<PathBuf>) -> Self {
        Self {
            root: Some(data_root.into()),
            ..Self::temporary()
        }
    }

    /// Creates options for a cluster that is removed when the [`Database`](crate::Database) stops
    /// or is dropped.
    ///
    /// The next start of a temporary cluster removes the leftovers of killed programs.
    pub fn temporary() -> Self {
        Self {
            root: None,
            tcp: Tcp::Off,
            binaries: None,
            initdb_cache: std::env::var_os(INITDB_CACHE)
                .filter(|folder| !folder.is_empty())
                .map(PathBuf::from),
            settings: Vec::new(),
            user_namespace: true,
            role: None,
        }
    }

    /// Listens on this loopback port as well; with `None`, the default, on the unix socket only.
    ///
    /// The cluster trusts all connections, so every user of this machine can then use it.
    pub fn port(mut self, port: Option<u16>) -> Self {
        self.tcp = port.map_or(Tcp::Off, Tcp::Port);
        self
    }

    /// Listens on a free loopback port as well. The port is outside the system's range for outgoing
    /// connections, so it is still free after a restart.
    ///
    /// The cluster trusts all connections, so every user of this machine can then use it.
    pub fn tcp(mut self, on: bool) -> Self {
        self.tcp = if on { Tcp::FreePort } else { Tcp::Off };
        self
    }

    /// Sets the folder that contains `postgres` and `initdb`, so that none is searched. Takes
    /// precedence over `SVC_PG_BIN`.
    pub fn binaries(mut self, folder: impl Into<PathBuf>) -> Self {
        self.binaries = Some(folder.into());
        self
    }

    /// Sets a folder that keeps the result of `initdb`, so that later clusters are copies of it. A
    /// copy takes about a tenth of the time. With `None`, `initdb` creates each cluster. The default
    /// is the folder in `SVC_PG_INITDB_CACHE`, if that is set.
    ///
    /// The folder has one result for each version of PostgreSQL and user, about 40 MB. You can
    /// delete it at any time. All copies have the same system identifier, so that PostgreSQL takes
    /// them for replicas of each other.
    pub fn initdb_cache(mut self, folder: Option<PathBuf>) -> Self {
        self.initdb_cache = folder;
        self
    }

    /// Sets the number of connections that the server accepts; PostgreSQL's default is 100.
    pub fn max_connections(self, count: u32) -> Self {
        self.setting("max_connections", count.to_string())
    }

    /// Sets a server setting, as in `postgresql.conf`. The last value of a name applies. You can
    /// override this crate's `fsync=off`, but not the addresses that the server listens on.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Sets the role of the program's requests, used by
    /// [`Database::role_url`](crate::Database::role_url), and creates it if it does not exist. It
    /// is an ordinary role, to which row-level security applies. It does not apply to the superuser
    /// `postgres`, who owns the program's tables.
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.role = Some(name.into());
        self
    }

    /// Sets whether the server may run in a user namespace if the program runs as root; `true` by
    /// default. Without a namespace it runs as the user `postgres` or `nobody`, which then owns the
    /// data.
    pub fn user_namespace(mut self, allowed: bool) -> Self {
        self.user_namespace = allowed;
        self
    }
}
