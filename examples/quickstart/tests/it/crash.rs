//! Crashes of PostgreSQL's processes, and databases that lose what was set up.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use svc_tests::Program;

use crate::{command, connect, ready, until_answered, until_ready};

/// The backends of clients, as the system knows them.
fn backends(folder: &Path) -> Vec<String> {
    let file = std::fs::read_to_string(folder.join(".svc/postgres/postmaster.pid")).unwrap();
    let listed = Command::new("pgrep")
        .args([
            "-P",
            file.lines().next().unwrap(),
            "-f",
            "^postgres: postgres",
        ])
        .output();

    String::from_utf8(listed.unwrap().stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn the_set_up_survives_the_kill_of_a_backend() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::start(&mut command(folder.path()));
    let url = program.url();

    until_answered(&url, "{ users { name } }", "Ada").await;
    for backend in backends(folder.path()) {
        // It may have ended with the one before.
        let _ = Command::new("kill").args(["-9", &backend]).status();
    }

    until_answered(&url, "{ users { name } }", "Ada").await;

    until_ready(&url).await;
}

#[tokio::test]
async fn a_lost_set_up_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::start(&mut command(folder.path()));
    let url = program.url();

    until_answered(&url, "{ users { name } }", "Ada").await;
    let mut database = connect(folder.path()).await;
    sqlx::raw_sql("DROP TABLE tb_user CASCADE")
        .execute(&mut database)
        .await
        .unwrap();
    until_answered(&url, "{ users { name } }", "Grace").await;

    program.wait_for("running the set-up again");
}

#[tokio::test]
async fn a_folder_that_was_deleted_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::start(&mut command(folder.path()));
    let url = program.url();

    until_answered(&url, "{ users { name } }", "Ada").await;
    until_ready(&url).await;
    std::fs::rename(folder.path().join(".svc"), folder.path().join("gone")).unwrap();
    let (status, text) = ready(&url).await;
    assert_eq!(status, 503, "{text}");

    assert!(
        text.contains("the folder of the embedded database") && text.contains("is gone"),
        "{text}"
    );
}

/// The processes whose command names a folder.
fn processes(folder: &Path) -> usize {
    let listed = Command::new("pgrep")
        .arg("-f")
        .arg(folder)
        .output()
        .unwrap();
    String::from_utf8(listed.stdout).unwrap().lines().count()
}

async fn until_none_is_left(folder: &Path) {
    svc_tests::eventually(async || match processes(folder) {
        0 => Ok(()),
        left => Err(format!("{left} processes are left")),
    })
    .await;
}

/// The files of a project's folder, without those of the cluster itself.
fn files(folder: &Path) -> Vec<String> {
    let names = |folder: &Path| {
        let mut names = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>();
        names.sort();
        names.into_iter().map(|path| path.display().to_string())
    };

    names(folder)
        .chain(names(&folder.join(".svc")))
        .chain(names(&folder.join(".svc/postgres.run")))
        .collect()
}

#[tokio::test]
async fn thirty_starts_and_stops_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let mut first = None;

    for _ in 0..30 {
        let mut program = Program::start(&mut command(&path));
        until_answered(&program.url(), "{ users { name } }", "Ada").await;
        program.signal("TERM");
        assert_eq!(program.end().0.code(), Some(0));
        until_none_is_left(&path).await;
        assert_eq!(*first.get_or_insert_with(|| files(&path)), files(&path));
    }
}

/// `cargo xtask bench faults` and the limits of the book are of a machine of its own; here other
/// tests run beside.
#[tokio::test]
#[expect(clippy::print_stderr, reason = "figures")]
async fn a_kill_under_load_leaves_a_database_that_starts_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let mut program = Program::start(&mut command(&path));
    let url = program.url();

    until_answered(&url, "{ users { name } }", "Ada").await;
    let load = (0..8).map(|_| {
        let url = url.clone();
        tokio::spawn(async move {
            let send = || {
                svc_tests::client()
                    .post(&url)
                    .header("content-type", "application/json")
            };

            while send()
                .body(r#"{"query":"{ users { name } }"}"#)
                .send()
                .await
                .is_ok()
            {}
        })
    });

    let load = load.collect::<Vec<_>>();
    let killed = Instant::now();
    program.signal("KILL");
    program.end();
    until_none_is_left(&path).await;
    let gone = killed.elapsed();
    futures_util::future::join_all(load).await;
    let begun = Instant::now();
    let mut program = Program::start(&mut command(&path));
    until_answered(&program.url(), "{ users { name } }", "Ada").await;
    let ready = begun.elapsed();
    eprintln!("PostgreSQL was gone after {gone:?}, and the next start ready after {ready:?}");

    assert!(
        gone < Duration::from_secs(55) && ready < Duration::from_secs(55),
        "{gone:?} and {ready:?}"
    );
}
