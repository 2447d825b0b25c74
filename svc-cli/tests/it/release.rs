//! A release, as the chapter Deployment of the book has it: the program, the files of `db/`, and the
//! settings of its environment, with a role that owns the tables and one that serves.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::database::{free_port, project};
use crate::support::{self, Place, command, said};
use crate::templates::{Project, target};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The roles of the chapter Tenancy.
const ROLES: &str = "
    CREATE ROLE released_owner LOGIN NOBYPASSRLS;
    CREATE ROLE released_service LOGIN NOBYPASSRLS;
    GRANT CREATE, USAGE ON SCHEMA public TO released_owner;
    GRANT CREATE ON DATABASE :db TO released_owner;";

/// What the owner grants the service, as a migration.
const GRANTS: &str = "
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO released_service;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO released_service;
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO released_service;
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO released_service;";

/// A program that is ended if the test fails.
struct Running {
    child: Child,
    port: u16,
}

impl Running {
    fn start(place: &Place, url: &str) -> Self {
        let port = free_port();
        let child = Command::new(target().join("debug/new_released"))
            .current_dir(place.path("."))
            .env("SVC_ENVIRONMENT", "production")
            .env("SVC_DATABASE_URL", url)
            .env("SVC_PORT", port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program");
        Self { child, port }
    }

    /// The whole answer to a request, once it listens.
    fn answer(&self, request: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// The answer to a probe, once it has this status.
    #[track_caller]
    fn probe(&self, path: &str, status: u16) {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let begun = Instant::now();
        loop {
            let answer = self.answer(&request).unwrap_or_default();
            if answer.starts_with(&format!("HTTP/1.1 {status} ")) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{path}: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn ask(&self, query: &str) -> String {
        let body = serde_json::json!({ "query": query }).to_string();
        let length = body.len();
        self.answer(&format!(
            "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
        .expect("an answer")
    }

    /// Its exit code after SIGTERM.
    fn stop(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("the signal");
        self.child.wait().expect("its end").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        support::end(&mut self.child);
    }
}

/// A folder with the files of `db/` alone, beside an empty database with the roles.
fn release(built: &Project) -> Place {
    let place = project();
    place.ask(&ROLES.replace(":db", &place.database()));
    std::fs::remove_file(place.path("Cargo.toml")).expect("the manifest");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(built.folder().join("db"))
        .arg(place.path("db"))
        .status();
    assert!(copied.expect("cp").success());
    place.write("db/migrations/002_service.sql", GRANTS);
    place
}

#[test]
fn a_release_runs_from_its_program_and_its_files() {
    let built = Project::new("basic", "new_released");
    built.cargo(&["build", "--quiet"]).good();
    let place = release(&built);
    let url = |role: &str| place.url().replace("postgres@", &format!("{role}@"));
    let svc = |arguments: &[&str]| {
        let mut svc = command(&place.path("."));
        svc.args(arguments)
            .env("SVC_DATABASE_URL", url("released_owner"));
        said(svc.output().expect("the binary"))
    };

    // It gets no requests before its migrations have run.
    let program = Running::start(&place, &url("released_service"));
    program.probe("/health", 200);
    program.probe("/ready", 503);

    svc(&["migrate", "check", "--strict"]).good();
    svc(&["migrate", "up"]).good();
    program.probe("/ready", 200);

    // The rows for development are seeds, which no migration runs.
    let users = program.ask("{ users { name } }");
    assert!(users.ends_with(r#"{"data":{"users":[]}}"#), "{users}");
    let schema = program.ask("{ __schema { queryType { name } } }");
    assert!(schema.contains(r#""errors""#), "{schema}");

    // The job may run again, and another instance starts beside the first.
    svc(&["migrate", "up"]).good();
    let other = Running::start(&place, &url("released_service"));
    other.probe("/ready", 200);
    assert_eq!(other.stop(), Some(0));
    assert_eq!(program.stop(), Some(0));
}
