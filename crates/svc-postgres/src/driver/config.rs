//! The address and options of connections: one configuration of `tokio-postgres` for each host.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_postgres::config::{LoadBalanceHosts, SslMode};
use tokio_postgres::{Client, Config, SimpleQueryMessage};

use super::DriverError;
use super::pooled::{MARK, PooledSession, has_options};
use super::wire::Wire;
use super::wire::tls::{self, Connector};
use crate::connect::{ConnectConfig, HostConfig, SessionTarget, TlsConfig, TlsMode};

/// The silence after which the system asks whether the server is still there, the time between two
/// questions, and their number.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVES: u32 = 3;
/// The time after which a connection is lost whose sent bytes the server's system has not
/// acknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(15);
/// The time that each of several hosts has to let us in. A single one has until the request is
/// tired of waiting.
const CONNECT: Duration = Duration::from_secs(2);

/// Bytes of SQL that a connection keeps prepared, unless it is set.
const STATEMENT_CACHE: usize = 256 << 10;

/// Everything a new connection needs.
#[derive(Debug)]
pub(crate) struct Target {
    /// One for each host, in the order in which they are tried.
    pub(super) hosts: Vec<Config>,
    /// The same without start-up options.
    plain: Vec<Config>,
    /// The settings of transactions behind a pooler that does not keep settings of the session.
    pooled: Arc<PooledSession>,
    /// Whether the connection that was opened last is one of a pooler which does not keep them.
    is_pooled: AtomicBool,
    /// Whether a pooler has refused the start-up options.
    refuses_options: AtomicBool,
    balance: bool,
    session: SessionTarget,
    tls: TlsConfig,
    /// Bytes of SQL that a connection keeps prepared.
    pub(super) statement_cache: usize,
    /// Whether sessions are reset after what may have altered them.
    pub(super) reset_session: bool,
}

/// A connection that was opened, and which host it leads to.
pub(super) struct Opened {
    pub(super) client: Client,
    pub(super) wire: Wire,
    /// The settings of each transaction, where the server did not receive the start-up options.
    pub(super) pooled: Option<Arc<PooledSession>>,
    #[cfg_attr(
        not(feature = "sqlx"),
        allow(dead_code, reason = "only sqlx is led to the same host")
    )]
    pub(super) host: usize,
}

impl Target {
    pub(crate) fn new(connect: &ConnectConfig) -> Self {
        Self {
            hosts: connect
                .hosts
                .iter()
                .map(|host| with_options(config(connect, host), connect))
                .collect(),
            plain: connect
                .hosts
                .iter()
                .map(|host| config(connect, host))
                .collect(),
            pooled: Arc::new(PooledSession::of(&session_options(connect))),
            is_pooled: AtomicBool::new(false),
            refuses_options: AtomicBool::new(false),
            balance: connect.balance,
            session: connect.session,
            tls: connect.tls.clone(),
            statement_cache: STATEMENT_CACHE,
            reset_session: true,
        }
    }

    /// Returns the connector that encrypts connections. Files are read for each new one, so that a
    /// renewed certificate is used.
    pub(super) async fn connector(&self) -> Result<Connector, DriverError> {
        tls::connector(&self.tls).await
    }

    /// Opens a connection to the first host that responds and matches `target_session_attrs`. As in
    /// libpq, no further host is tried after one has refused the user.
    #[cfg_attr(
        not(feature = "tls"),
        expect(clippy::clone_on_copy, reason = "one that encrypts is not copied")
    )]
    pub(super) async fn connect(&self) -> Result<Opened, DriverError> {
        let connector = self.connector().await?;
        let mut failed = DriverError::Closed;
        for session in rounds(self.session) {
            for host in self.order() {
                match self.connect_to(host, *session, connector.clone()).await {
                    Err(error) if !error.is_refused_user() => failed = error,
                    result => return result,
                }
            }
        }

        Err(failed)
    }

    async fn connect_to(
        &self,
        host: usize,
        session: SessionTarget,
        connector: Connector,
    ) -> Result<Opened, DriverError> {
        let config = &self.hosts[host];
        let open = async {
            let (client, mut wire, had_options) = self.connect_by(host, connector).await?;
            check_session(session, &client, &mut wire).await?;
            let is_pooled = !had_options || !has_options(&client, &mut wire).await?;
            if is_pooled && !self.is_pooled.swap(is_pooled, Ordering::Relaxed) {
                self.pooled.note();
            }

            self.is_pooled.store(is_pooled, Ordering::Relaxed);

            Ok(Opened {
                client,
                wire,
                host,
                pooled: is_pooled.then(|| self.pooled.clone()),
            })
        };

        // tokio-postgres limits only the TCP connection, but a server that hangs still accepts
        // connections.
        match config.get_connect_timeout() {
            Some(time) => tokio::time::timeout(*time, open)
                .await
                .unwrap_or(Err(DriverError::Unanswered)),
            None => open.await,
        }
    }

    /// Connects, without start-up options where a pooler refuses them; whether they were given.
    #[cfg_attr(
        not(feature = "tls"),
        expect(clippy::clone_on_copy, reason = "one that encrypts is not copied")
    )]
    async fn connect_by(
        &self,
        host: usize,
        connector: Connector,
    ) -> Result<(Client, Wire, bool), DriverError> {
        if !self.refuses_options.load(Ordering::Relaxed) {
            match self.hosts[host]
                .connect(connector.clone())
                .await
                .map_err(DriverError::from)
            {
                Ok((client, stream)) => return Ok((client, Wire::new(stream), true)),
                Err(error) if error.refuses_options() => {
                    self.refuses_options.store(true, Ordering::Relaxed);
                }
                Err(error) => return Err(error),
            }
        }

        let (client, stream) = self.plain[host].connect(connector).await?;
        Ok((client, Wire::new(stream), false))
    }

    /// Whether the connection that was opened last is one of a pooler which does not keep the
    /// settings of a session.
    #[cfg(feature = "sqlx")]
    pub(super) fn is_pooled(&self) -> bool {
        self.is_pooled.load(Ordering::Relaxed)
    }

    /// The settings of each transaction behind such a pooler.
    #[cfg(feature = "sqlx")]
    pub(super) fn transaction_settings(&self) -> &str {
        self.pooled.settings()
    }

    /// Whether every server will do that answers.
    #[cfg(feature = "sqlx")]
    pub(super) fn accepts_any(&self) -> bool {
        self.session == SessionTarget::Any
    }

    /// The hosts as they are given, or in any order.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.hosts.len()).collect();
        if self.balance {
            // Each `RandomState` has other keys, so the hashes of the same hosts have a random
            // order.
            let random = RandomState::new();
            order.sort_by_key(|host| random.hash_one(host));
        }
        order
    }
}

/// Returns the kinds of servers that are asked for, one for each round over all hosts.
fn rounds(session: SessionTarget) -> &'static [SessionTarget] {
    match session {
        SessionTarget::Any => &[SessionTarget::Any],
        SessionTarget::ReadWrite => &[SessionTarget::ReadWrite],
        SessionTarget::ReadOnly => &[SessionTarget::ReadOnly],
        SessionTarget::Primary => &[SessionTarget::Primary],
        SessionTarget::Standby => &[SessionTarget::Standby],
        SessionTarget::PreferStandby => &[SessionTarget::Standby, SessionTarget::Any],
    }
}

async fn check_session(
    session: SessionTarget,
    client: &Client,
    wire: &mut Wire,
) -> Result<(), DriverError> {
    if session == SessionTarget::Any {
        return Ok(());
    }

    let ask = client
        .simple_query("SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::bool");
    let answer = wire.drive(ask).await?;
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let is_true = |column| row.and_then(|row| row.get(column)) == Some("t");

    if session.accepts(is_true(0), is_true(1)) {
        Ok(())
    } else {
        Err(DriverError::WrongServer)
    }
}

fn config(connect: &ConnectConfig, host: &HostConfig) -> Config {
    let mut config = Config::new();
    match (host.folder(), host.address) {
        (Some(folder), _) => {
            config.host_path(folder);
        }
        (None, Some(address)) => {
            // The name serves only to check the certificate.
            config.host(host.certified_name()).hostaddr(address);
        }
        (None, None) => {
            config.host(host.certified_name());
        }
    }

    config.port(host.port).user(&connect.user);
    if let Some(database) = &connect.database {
        config.dbname(database);
    }

    if let Some(password) = &connect.password {
        config.password(password);
    }

    if let Some(name) = &connect.application_name {
        config.application_name(name);
    }

    config.ssl_mode(match connect.tls_mode(host) {
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require => SslMode::Require,
    });

    config
        .ssl_negotiation(connect.tls.negotiation)
        .channel_binding(connect.channel_binding);
    if connect.balance {
        config.load_balance_hosts(LoadBalanceHosts::Random);
    }

    watch(connect, &mut config);

    config
}

/// Sets the time that the system waits for the server; what the URL says comes first.
fn watch(connect: &ConnectConfig, config: &mut Config) {
    let socket = &connect.socket;
    config
        .keepalives(socket.keepalives.unwrap_or(true))
        .keepalives_idle(socket.keepalives_idle.unwrap_or(KEEPALIVE));
    config.keepalives_interval(socket.keepalives_interval.unwrap_or(KEEPALIVE_INTERVAL));
    config.keepalives_retries(socket.keepalives_count.unwrap_or(KEEPALIVES));
    let unacknowledged = socket.tcp_user_timeout.unwrap_or(UNACKNOWLEDGED);
    if !unacknowledged.is_zero() {
        config.tcp_user_timeout(unacknowledged);
    }

    let several = (connect.hosts.len() > 1).then_some(CONNECT);

    if let Some(time) = connect
        .connect_timeout
        .or(several)
        .filter(|time| !time.is_zero())
    {
        config.connect_timeout(time);
    }
}

/// The same with the start-up options.
fn with_options(mut config: Config, connect: &ConnectConfig) -> Config {
    config.options(format!("{} {MARK}", session_options(connect)));
    config
}

/// The settings of a session: the given ones, then the ones that decide how PostgreSQL writes
/// values as text.
fn session_options(connect: &ConnectConfig) -> String {
    // The last setting of a name applies, so the URL cannot change the format of values.
    format!(
        "{} -c DateStyle=ISO -c TimeZone=UTC -c extra_float_digits=2",
        connect.options
    )
}
