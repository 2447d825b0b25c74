//! A PgBouncer between the services of a test program and their databases, where it is asked for.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use svc_embedded::free_port;
use tempfile::TempDir;

use crate::{PgBouncer, cluster, pooler};

/// The variable that asks for it.
const VARIABLE: &str = "SVC_TESTS_POOLED";

/// The longest wait for its start.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs PgBouncer until the test program ends, which closes the standard input, and removes its
/// folder.
const UNTIL_THE_END: &str = r#""$@" >"$0/log" 2>&1 & read -r _; kill $!; rm -r "$0""#;

/// Whether the services of this test program reach their databases through PgBouncer.
pub fn is_pooled() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())
}

/// The URL of a database behind the PgBouncer of this test program; `None` where it has none.
pub(crate) fn url(database: &str) -> Option<String> {
    static PORT: OnceLock<Option<u16>> = OnceLock::new();
    let port = (*PORT.get_or_init(|| is_pooled().then(start)))?;

    Some(format!(
        "postgres://postgres@127.0.0.1:{port}/{database}?sslmode=disable"
    ))
}

/// Starts a PgBouncer in transaction mode for whatever database a client names; its port.
fn start() -> u16 {
    assert!(
        PgBouncer::keeps_statements(),
        "PgBouncer is older than 1.21; name a newer one in SVC_PGBOUNCER"
    );

    let port = free_port().expect("a free port");
    let folder = TempDir::new().expect("a folder").keep();
    fs::write(folder.join("users"), "\"postgres\" \"\"\n").expect("a file");
    let program = pooler::command(&folder, &config(&folder, port));
    let mut command = Command::new("sh");
    command
        .args(["-c", UNTIL_THE_END])
        .arg(&folder)
        .arg(program.get_program())
        .args(program.get_args())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Its standard input stays open until this process ends.
    std::mem::forget(command.spawn().expect("a shell"));

    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(start.elapsed() < PATIENCE, "no PgBouncer: {}", log());
        std::thread::sleep(Duration::from_millis(10));
    }

    port
}

/// Roles beside `postgres` are looked up, so that a service has the rights of the one in its URL.
/// Connections end soon after the test that used them, because the server has few.
fn config(folder: &Path, port: u16) -> String {
    let url = cluster()
        .tcp_url_for("postgres")
        .expect("a server that listens on a port");
    let server = url
        .split_once("127.0.0.1:")
        .and_then(|(_, rest)| rest.split_once('/'))
        .expect("a port")
        .0;
    let folder = folder.display();

    format!(
        "[databases]\n\
         * = host=127.0.0.1 port={server} auth_user=postgres\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = trust\n\
         auth_file = {folder}/users\n\
         auth_query = SELECT rolname, NULL FROM pg_roles WHERE rolname = $1\n\
         server_tls_sslmode = disable\n\
         pool_mode = transaction\n\
         max_prepared_statements = 200\n\
         max_client_conn = 2000\n\
         server_idle_timeout = 2\n\
         server_login_retry = 1\n"
    )
}
