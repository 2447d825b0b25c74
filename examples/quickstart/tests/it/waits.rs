//! Starts that wait, and starts that cannot be.

use std::net::TcpListener;
use std::process::Command;

use svc_tests::Program;

use crate::command;

#[test]
fn an_address_in_use_is_reported_before_a_database_starts() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = command(folder.path())
        .env("SVC_PORT", port)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("Address already in use").count(), 1, "{said}");
    assert!(
        said.contains("set SVC_HOST and SVC_PORT to an address that is free"),
        "{said}"
    );

    assert!(
        !folder.path().join(".svc").exists(),
        "a database was started"
    );
}

#[test]
fn a_start_with_few_files_does_not_panic() {
    // Below 9 the runtime, which is the program's own, cannot be made.
    for limit in (9..=20).chain([24, 32, 48, 63]) {
        let folder = tempfile::tempdir().unwrap();
        let mut program = Program::start(&mut with_files(limit, &command(folder.path())));
        let (_, lines) = program.end();
        let said = lines.join("\n");

        assert!(
            lines.iter().any(|line| line.starts_with("Error: ")),
            "{limit}: {said}"
        );
        assert!(!said.contains("panicked"), "{limit}: {said}");

        assert!(
            limit < 20 || said.contains(&format!("the limit is {limit}; raise it")),
            "{limit}: {said}"
        );
    }
}

/// The command with so many open files at most, of which the three standard streams are all that it
/// begins with.
fn with_files(limit: usize, command: &Command) -> Command {
    let close = "for file in /proc/$$/fd/*; do file=${file##*/}; if ((file > 2)); then eval \"exec $file>&-\"; fi; done";
    let mut shell = Command::new("bash");
    shell.args([
        "-c",
        &format!(
            "{close}; ulimit -n {limit}; exec {}",
            command.get_program().display()
        ),
    ]);

    shell.current_dir(command.get_current_dir().unwrap());

    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }

    shell
}

#[tokio::test]
async fn failed_accepts_are_reported_once_with_a_count() {
    let folder = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let database = svc_embedded::Database::start(svc_embedded::Options::new(data.path()))
        .await
        .unwrap();
    let mut shell = with_files(
        40,
        command(folder.path()).env("SVC_DATABASE_URL", database.url()),
    );
    let mut program = Program::start(&mut shell);
    let url = program.url();
    let address = url
        .trim_start_matches("http://")
        .trim_end_matches("/graphql")
        .to_owned();
    let clients =
        futures_util::future::join_all((0..100).map(|_| tokio::net::TcpStream::connect(&address)))
            .await;
    program.wait_for_any(&["cannot accept a connection", "connection limit reached"]);

    // Other clients wait; once there is room they are served.
    drop(clients);
    crate::until_answered(&url, "{ users { name } }", "Ada").await;
    program.signal("TERM");
    let (_, lines) = program.end();
    let said = lines
        .iter()
        .filter(|line| line.contains("cannot accept") || line.contains("connection limit reached"))
        .count();

    assert!(said <= 2, "{lines:#?}");
}
