//! `svc dev` beside migrations that are being written, and where no change of a file can help.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

use crate::database::project;
use crate::support::{self, Place, command, said};

/// The longest wait for a line.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program that does nothing but to say that it serves.
const PROGRAM: &str = "fn main() {\n    std::fs::write(std::env::var(\"SVC_SUPERVISED\").unwrap(), \"\").unwrap();\n    \
    loop {\n        std::thread::sleep(std::time::Duration::from_secs(3600));\n    }\n}\n";

/// A running `svc dev`, which reads keys from a pipe.
struct Dev {
    child: Child,
    keys: ChildStdin,
    lines: Receiver<String>,
}

impl Dev {
    fn start(place: &Place, settings: &[(&str, &str)]) -> Self {
        let mut dev = command(&place.path("."));
        dev.args(["dev", "--port", "0"])
            .env("CARGO_TARGET_DIR", place.path("target"));
        dev.envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = dev.spawn().expect("the binary");
        let keys = child.stdin.take().expect("its input");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stderr.take().expect("its words"));
        std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .for_each(|line| drop(sender.send(line)));
        });
        Self { child, keys, lines }
    }

    /// The lines up to one with this text.
    #[track_caller]
    fn wait_for(&self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return seen,
                Ok(line) => seen.push(line),
                Err(_) => panic!("no `{text}` in {seen:#?}"),
            }
        }
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        support::end(&mut self.child);
    }
}

fn with_program(program: &str) -> Place {
    let place = project();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"still\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    place.write("src/main.rs", program);
    place.write("db/migrations/1_a.sql", "CREATE TABLE tb_a (x int);");
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x FROM tb_a;",
    );
    place
}

#[test]
fn dev_runs_a_migration_only_on_request() {
    let place = with_program(PROGRAM);
    let mut dev = Dev::start(&place, &[]);
    dev.wait_for("applied 2 files");
    dev.wait_for("GraphQL   http://");
    let path = place.svc(&["migrate", "new", "add_rating"]).good();
    let path = path.trim();
    dev.wait_for("add_rating.sql has no statements yet, so it was not run");
    assert!(
        place
            .svc(&["migrate", "status"])
            .good()
            .contains("add_rating.sql  pending")
    );
    place.write(path, "ALTER TABLE tb_a ADD COLUMN ratin int;");
    dev.wait_for("add_rating.sql is pending; type `m` and Enter to run it, or: svc migrate up");
    place.write(path, "ALTER TABLE tb_a ADD COLUMN rating int;");
    dev.wait_for("add_rating.sql is pending");
    let columns =
        "SELECT count(*) FROM pg_attribute WHERE attrelid = 'tb_a'::regclass AND attnum > 0";
    assert_eq!(place.ask(columns), "1");
    // A view that needs it says so, and one that does not is applied as it is saved.
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, rating FROM tb_a;",
    );
    dev.wait_for("error: db/schema/010_a.sql:1: column \"rating\" does not exist");
    dev.wait_for("add_rating.sql is pending and may create it: svc migrate up");
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, x + 1 AS y FROM tb_a;",
    );
    dev.wait_for("applied 1 file");
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, rating FROM tb_a;",
    );
    dev.wait_for("error: db/schema/010_a.sql:1: column \"rating\" does not exist");
    dev.keys.write_all(b"m\n").expect("a key");
    dev.wait_for("applied 2 files");
    assert_eq!(place.ask(columns), "2");
    place.ask("SELECT rating FROM v_a");
}

/// A migration that ends once the server has a database `go`.
const WAITS: &str = "CREATE TABLE tb_a (x int);\nDO $$ BEGIN\n    \
    WHILE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'go') LOOP PERFORM pg_sleep(0.02); END LOOP;\nEND $$;";

#[test]
fn a_failing_file_does_not_stop_a_server_that_is_being_set_up() {
    let place = with_program(PROGRAM);
    let port = crate::database::free_port();
    place.write(
        ".env",
        &format!("SVC_DATABASE_URL=postgresql://svc:svc@localhost:{port}/still\n"),
    );
    place.write("db/migrations/1_a.sql", WAITS);
    let dev = Dev::start(&place, &[]);
    dev.wait_for("the database is not ready yet");
    dev.wait_for("GraphQL   http://");
    let started = || place.ask("SELECT pg_postmaster_start_time()");
    let before = started();
    // The work that this change begins takes over the server from the work that still runs.
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT nope FROM tb_a;",
    );
    dev.wait_for("db/schema/010_a.sql has changed");
    place.ask("CREATE DATABASE go");
    dev.wait_for("error: db/schema/010_a.sql:1: column \"nope\" does not exist");
    place.write(
        "db/schema/010_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x, x + 1 AS y FROM tb_a;",
    );
    dev.wait_for("applied 1 file");
    assert_eq!(started(), before);
    place.ask("SELECT y FROM v_a");
}

#[test]
fn a_test_that_ends_early_leaves_no_program_behind() {
    let place = with_program(PROGRAM);
    let dev = Dev::start(&place, &[]);
    dev.wait_for("GraphQL   http://");
    // It notes the processes that it starts, the program last.
    let file = std::fs::read_dir(place.path(".svc/dev"))
        .expect("the folder")
        .next()
        .expect("a file")
        .expect("a file");
    let notes = std::fs::read_to_string(file.path()).expect("its notes");
    let program = notes
        .lines()
        .last()
        .and_then(|line| line.split(' ').next()?.parse().ok());
    let program = program.and_then(Pid::from_raw).expect("a process");
    assert!(test_kill_process(program).is_ok(), "{notes}");
    drop(dev);
    assert!(test_kill_process(program).is_err(), "the program goes on");
}

#[test]
fn dev_exits_on_errors_that_no_file_change_can_fix() {
    let place = with_program(PROGRAM);
    let dev = |arguments: &[&str], settings: &[(&str, &str)]| {
        let mut dev = command(&place.path("."));
        dev.args(["dev", "--port", "0"])
            .args(arguments)
            .env("CARGO_TARGET_DIR", place.path("target"));
        dev.envs(settings.iter().copied()).stdin(Stdio::null());
        said(dev.output().expect("the binary")).bad()
    };
    let words = dev(&[], &[("CARGO", "/nowhere/cargo")]);
    assert!(
        words.contains("error: cannot run cargo") && words.contains("hint: install Rust"),
        "{words}"
    );
    let words = dev(&["--app", "stil"], &[]);
    assert!(
        words.contains("error: the workspace has no package `stil`\nhint: its packages are still"),
        "{words}"
    );
    let words = dev(&["--app", ":server"], &[]);
    assert!(
        words.contains("error: there is no program `server`\nhint: the programs are still"),
        "{words}"
    );
}

#[test]
fn dev_does_not_report_an_unreachable_database_as_ready() {
    let place = with_program("fn main() { no }\n");
    let url = format!(
        "postgresql://postgres@localhost:{}/a",
        crate::database::free_port()
    );
    let dev = Dev::start(
        &place,
        &[("SVC_DATABASE_URL", &url), ("SVC_PG_BIN", "/nowhere")],
    );
    let mut seen = dev.wait_for("runs without a database");
    seen.extend(dev.wait_for("the program does not compile"));
    place.write("src/main.rs", "fn main() { nor }\n");
    seen.extend(dev.wait_for("cannot find value `nor`"));
    seen.extend(dev.wait_for("the program does not compile"));
    assert!(
        !seen
            .iter()
            .any(|line| line.contains("the database is ready")),
        "{seen:#?}"
    );
}
