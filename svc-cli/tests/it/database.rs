//! A PostgreSQL that the tests of a run share, and `svc db`.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use svc_embedded::{Database, Options};

use crate::support::{Place, command};

static SERVER: OnceLock<(Database, tokio::runtime::Runtime)> = OnceLock::new();
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A project with an empty database of its own.
pub(crate) fn project() -> Place {
    let (server, runtime) = SERVER.get_or_init(|| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let server = runtime
            .block_on(Database::start(
                // Its workers would visit the databases of tests that have ended.
                Options::temporary().tcp(true).setting("autovacuum", "off"),
            ))
            .expect("a server");
        want_passwords(&server);
        (server, runtime)
    });
    let name = format!("project_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    runtime
        .block_on(server.ensure_database(&name))
        .expect("a database");
    let place = Place::new();
    place.write("Cargo.toml", "");
    let url = server.tcp_url_for(&name).expect("a port");
    place.write(
        ".env",
        &format!(
            "SVC_DATABASE_URL={}\n",
            url.split('?').next().expect("a URL")
        ),
    );
    place
}

/// Lets users of the role `needs_password` in by their password only; all others are trusted.
fn want_passwords(server: &Database) {
    let file = server.data().join("pg_hba.conf");
    let trusting = std::fs::read_to_string(&file).expect("the rules");
    std::fs::write(
        &file,
        format!("host all +needs_password 127.0.0.1/32 scram-sha-256\n{trusting}"),
    )
    .expect("the rules");
    let url = server.tcp_url_for("postgres").expect("a port");
    let sql = "CREATE ROLE needs_password; SELECT pg_reload_conf()";
    let done = std::process::Command::new("psql")
        .args(["-qX", &url, "-c", sql])
        .output()
        .expect("psql");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

impl Place {
    /// The URL of `.env`.
    pub(crate) fn url(&self) -> String {
        self.read(".env")
            .trim()
            .trim_start_matches("SVC_DATABASE_URL=")
            .to_owned()
    }

    /// The name of the database.
    pub(crate) fn database(&self) -> String {
        self.url().rsplit('/').next().expect("a name").to_owned()
    }

    /// The first column of the first row.
    pub(crate) fn ask(&self, sql: &str) -> String {
        self.svc(&["db", "psql", "-XAtc", sql])
            .good()
            .trim()
            .to_owned()
    }
}

#[test]
fn status_shows_the_location_of_the_database() {
    let place = project();
    let said = place.svc(&["db", "status"]).good();
    assert!(
        said.starts_with(&format!(
            "the database `{}` at 127.0.0.1:",
            place.database()
        )),
        "{said}"
    );
    let json = place.svc(&["db", "status", "--json"]).good();
    assert!(
        json.contains("\"reachable\": true") && !json.contains("postgres://"),
        "{json}"
    );
}

#[test]
fn psql_has_the_password_in_its_environment_alone() {
    let place = project();
    place.ask("CREATE ROLE out_of_sight LOGIN PASSWORD 'se same%' IN ROLE needs_password");
    let encoded = "se%20same%25";
    for url in [
        place
            .url()
            .replace("postgres@", &format!("out_of_sight:{encoded}@")),
        place.url().replace("postgres@", "out_of_sight@") + "?password=" + encoded,
    ] {
        let mut psql = command(&place.path("."));
        psql.args(["db", "psql", "-XAt", "-c", "SELECT current_user"])
            .args(["-c", r"\! tr '\0' ' ' < /proc/$PPID/cmdline"])
            .env("SVC_DATABASE_URL", url);
        let said = crate::support::said(psql.output().expect("the binary")).good();
        assert!(
            said.starts_with("out_of_sight\n") && said.contains("//out_of_sight@"),
            "{said}"
        );
        assert!(!said.contains("same"), "{said}");
    }
}

#[test]
fn a_process_with_the_number_of_a_server_is_not_stopped() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    let mut other = Command::new("sleep").arg("600").spawn().expect("sleep");
    place.write(".svc/db.lock", &format!("{} another-moment\n", other.id()));
    let lock = std::fs::File::open(place.path(".svc/db.lock")).expect("the file");
    lock.try_lock().expect("the lock");
    let stopped = place.svc(&["db", "stop"]);
    let goes_on = other.try_wait().expect("its state").is_none();
    other.kill().expect("kill");
    other.wait().expect("its end");
    let words = stopped.bad();
    assert!(goes_on, "{words}");
    assert!(
        words.contains(&format!("the process {} is not the database", other.id())),
        "{words}"
    );
}

#[test]
fn a_reset_requires_the_name_and_recreates_everything() {
    let place = project();
    place.write(
        "db/schema/001_a.sql",
        "CREATE TABLE IF NOT EXISTS a (x int)",
    );
    place.write("db/seeds/001_a.sql", "INSERT INTO a VALUES (1)");
    place.svc(&["migrate", "up"]).good();
    place.ask("INSERT INTO a VALUES (7), (8)");
    let words = place.svc(&["db", "reset"]).bad();
    assert!(
        words.contains(&format!(
            "hint: to confirm, pass `--confirm {}`",
            place.database()
        )),
        "{words}"
    );
    place.svc(&["db", "reset", "--confirm", "other"]).bad();
    assert_eq!(place.ask("SELECT count(*) FROM a"), "2");
    place
        .svc(&["db", "reset", "--confirm", &place.database()])
        .good();
    assert_eq!(place.ask("SELECT string_agg(x::text, ',') FROM a"), "1");
}

#[test]
fn failures_to_connect_have_a_hint() {
    let place = project();
    let (host, _) = place
        .url()
        .rsplit_once('/')
        .map(|(host, name)| (host.to_owned(), name.to_owned()))
        .expect("a URL");
    for (url, hint) in [
        (
            format!("{host}/nope"),
            "hint: create it: svc db start, or createdb nope on that server",
        ),
        (
            "postgresql://a@127.0.0.1:1/b".to_owned(),
            "hint: start it: svc db start",
        ),
        ("postgresql://a:p#w@h/b".to_owned(), "hint: "),
    ] {
        let output = command(&place.path("."))
            .args(["migrate", "up"])
            .env("SVC_DATABASE_URL", url)
            .output();
        let words = crate::support::said(output.expect("the binary")).bad();
        assert!(words.contains(hint), "{words}");
    }
}

/// A free port.
pub(crate) fn free_port() -> u16 {
    svc_embedded::free_port().expect("a port")
}

#[test]
fn the_projects_own_server_starts_and_stops() {
    let place = Place::new();
    let url = format!("postgresql://svc:svc@localhost:{}/my_shop", free_port());
    place
        .svc(&["init", "my-shop", "--no-git", "--database-url", &url])
        .good();
    let svc = |arguments: &[&str]| place.svc_in("my-shop", arguments);
    let folder = place.path("my-shop/.svc");
    let mode = || {
        std::fs::metadata(&folder)
            .expect("the folder")
            .permissions()
            .mode()
    };
    let mut without_umask = Command::new("sh");
    without_umask.args([
        "-c",
        "umask 000; exec \"$0\" db start",
        env!("CARGO_BIN_EXE_svc"),
    ]);
    without_umask
        .current_dir(place.path("my-shop"))
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");
    let started = crate::support::said(without_umask.output().expect("a shell"));
    let closed = mode();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777))
        .expect("the folder is ours");
    let answer = svc(&[
        "db",
        "psql",
        "-XAtc",
        "SELECT count(*), current_user FROM public.v_user GROUP BY 2",
    ]);
    let written = svc(&["generate", "types", "--all", "--output", "-"]);
    let again = svc(&["db", "start"]);
    let closed_again = mode();
    let status = svc(&["db", "status"]);
    let stopped = svc(&["db", "stop"]);
    let left = std::fs::read_to_string(folder.join("db.lock")).expect("the file");
    assert!(
        started.err.contains("db/schema/001_users.sql"),
        "{}",
        started.err
    );
    // The schemas of a user's own name come first in the search path.
    assert_eq!(answer.good(), "2|svc\n");
    assert!(written.good().contains("pub struct User"));
    assert!(
        again.err.contains("the database is up to date"),
        "{}",
        again.err
    );
    assert_eq!([closed, closed_again].map(|mode| mode & 0o022), [0, 0]);
    assert!(status.good().ends_with(", started by svc db start\n"));
    stopped.good();
    assert_eq!(left, "");
    assert!(
        svc(&["db", "status"])
            .bad()
            .contains("hint: start it: svc db start")
    );
    assert!(
        svc(&["db", "stop"])
            .err
            .contains("the database is not running")
    );
}

#[test]
fn a_port_of_another_server_is_not_taken() {
    let place = project();
    let url = place.url().replace("postgres@", "nobody:x@");
    let output = command(&place.path("."))
        .args(["db", "start"])
        .env("SVC_DATABASE_URL", url)
        .output();
    let words = crate::support::said(output.expect("the binary")).bad();
    assert!(words.contains("hint: another server uses port"), "{words}");
}

#[test]
fn the_server_of_another_project_is_refused() {
    let place = Place::new();
    let port = free_port();
    for name in ["desk", "shop"] {
        let url = format!("postgresql://svc:svc@localhost:{port}/{name}");
        place
            .svc(&["init", name, "--no-git", "--database-url", &url])
            .good();
    }
    place.svc_in("desk", &["db", "start"]).good();
    let again = place.svc_in("desk", &["db", "start"]);
    let refused = place.svc_in("shop", &["db", "start"]);
    let reset = place.svc_in("shop", &["db", "reset", "--confirm", "shop"]);
    let databases = place.svc_in(
        "desk",
        &[
            "db",
            "psql",
            "-XAtc",
            "SELECT count(*) FROM pg_database WHERE datname = 'shop'",
        ],
    );
    place.svc_in("desk", &["db", "stop"]).good();
    again.good();
    let refused = refused.bad();
    assert!(
        refused.contains(&format!(
            "the server at port {port} belongs to the project `desk`"
        )),
        "{refused}"
    );
    assert!(
        refused.contains("hint: choose another port for this project"),
        "{refused}"
    );
    assert!(reset.bad().contains("belongs to the project `desk`"));
    assert_eq!(databases.good(), "0\n");
}

#[test]
fn no_part_of_a_password_is_shown() {
    let place = project();
    let port = free_port();
    for password in ["p@sesame", "1/sesame", "p?sesame=x", "p#sesame", "p:sesame"] {
        let url = format!("postgresql://svc:{password}@localhost:{port}/helpdesk");
        for arguments in [
            ["db", "status"].as_slice(),
            &["migrate", "up"],
            &["db", "start"],
            &["doctor"],
        ] {
            let mut command = command(&place.path("."));
            let command = command
                .args(arguments)
                .env("SVC_DATABASE_URL", &url)
                .env("SVC_PG_BIN", "/nowhere");
            let said = crate::support::said(command.output().expect("the binary"));
            assert!(
                !said.err.contains("sesame") && !said.out.contains("sesame"),
                "{password}: {}{}",
                said.out,
                said.err
            );
        }
    }
}
