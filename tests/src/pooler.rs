//! PgBouncer in front of the tests' PostgreSQL.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use svc_embedded::free_port;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::pgbouncer::program;
use crate::{Proxy, TestDatabase, eventually};

/// A PgBouncer of a test's own.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    process: Child,
    /// PgBouncer gives up root, and then has no access to PostgreSQL's socket.
    _relay: Proxy,
    _folder: TempDir,
}

impl PgBouncer {
    /// Whether it keeps prepared statements where each transaction gets another connection, as
    /// versions from 1.21 do.
    ///
    /// # Panics
    /// Where it is not installed.
    pub fn keeps_statements() -> bool {
        let output = Command::new(program())
            .arg("--version")
            .output()
            .expect("pgbouncer; run `cargo xtask setup`");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("PgBouncer "))
            .expect("a version");
        let mut numbers = version
            .split('.')
            .map(|number| number.parse::<u32>().unwrap_or_default());
        (numbers.next(), numbers.next()) >= (Some(1), Some(21))
    }

    /// Starts one with the settings that it has by itself, but for these lines.
    pub async fn start(database: &TestDatabase, settings: &str) -> Self {
        let (relay, folder, port) = (
            Proxy::new().await,
            TempDir::new().expect("a folder"),
            free_port().expect("a port"),
        );
        let url = relay.url(database);
        let relayed = url
            .rsplit_once(':')
            .and_then(|(_, rest)| rest.split_once('/'))
            .expect("a port")
            .0;
        let name = database.name();
        let config = format!(
            "[databases]\n{name} = host=127.0.0.1 port={relayed} dbname={name} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\nserver_tls_sslmode = disable\n{settings}\n"
        );
        let mut command = command(folder.path(), &config);
        let output = || {
            Stdio::from(
                fs::File::options()
                    .create(true)
                    .append(true)
                    .open(folder.path().join("log"))
                    .expect("a log"),
            )
        };
        let command = command
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output());
        let mut process = command.spawn().expect("pgbouncer; run `cargo xtask setup`");
        eventually(async || {
            // It ends where another process has the port for a moment.
            if process.try_wait().expect("a process").is_some() {
                process = command.spawn().expect("pgbouncer");
            }
            TcpStream::connect(("127.0.0.1", port))
                .await
                .map(drop)
                .map_err(|error| error.to_string())
        })
        .await;
        Self {
            port,
            process,
            _relay: relay,
            _folder: folder,
        }
    }

    /// The URL of a database behind it.
    pub fn url(&self, database: &TestDatabase) -> String {
        format!(
            "postgres://postgres@127.0.0.1:{}/{}?sslmode=disable",
            self.port,
            database.name()
        )
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // One that has ended needs no end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The command that runs it with these settings, which are written to a file of the folder.
pub(crate) fn command(folder: &Path, config: &str) -> Command {
    let file = folder.join("pgbouncer.ini");
    fs::write(&file, config).expect("a file");
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("a folder for all");

    let mut command = Command::new(program());
    if fs::metadata("/proc/self")
        .is_ok_and(|of_self| std::os::unix::fs::MetadataExt::uid(&of_self) == 0)
    {
        command.args(["-u", "nobody"]);
    }

    command.arg(file);
    command
}
