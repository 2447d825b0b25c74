//! Leftovers of a crash, which must not block the next start.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::Path,
    process::Command,
};

use sqlx::{Connection as _, PgConnection};
use svc_embedded::{Database, Options};

use crate::{
    program::{Program, command},
    support::{ask, eventually, is_alive, is_root, run},
};

/// Kills the postmaster itself, which then removes none of its files.
async fn crashed_cluster(root: &Path) {
    let database = Database::start(Options::new(root)).await.unwrap();
    let pid = database.pid();
    assert!(
        Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
    eventually("the end of postgres", || !is_alive(pid)).await;
    drop(database);
    assert!(root.join("postgres/postmaster.pid").exists());
    assert!(root.join("postgres.run/.s.PGSQL.5432").exists());
}

#[tokio::test]
async fn a_crash_is_recovered_from() {
    let root = tempfile::tempdir().unwrap();
    crashed_cluster(root.path()).await;
    let database = Database::start(Options::new(root.path())).await.unwrap();
    assert!(!database.is_shared());
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
}

#[tokio::test]
async fn files_that_name_another_process_are_stale() {
    let root = tempfile::tempdir().unwrap();
    crashed_cluster(root.path()).await;
    let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
    for file in ["postgres/postmaster.pid", "postgres.run/.s.PGSQL.5432.lock"] {
        let path = root.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let (_, rest) = text.split_once('\n').unwrap();
        fs::write(&path, format!("{}\n{rest}", stranger.id())).unwrap();
    }
    let database = Database::start(Options::new(root.path())).await;
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert_eq!(ask(&database.unwrap().url(), "SELECT 'up'").await, "up");
}

#[tokio::test]
async fn the_number_of_a_process_of_another_user_is_stale() {
    if !is_root() {
        return;
    }
    const NOBODY: u32 = 65_534;
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(root.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let as_nobody = || {
        let mut command = command(root.path());
        command
            .uid(NOBODY)
            .gid(NOBODY)
            .current_dir("/")
            .env("HOME", root.path())
            .env_remove("SVC_PG_INITDB_CACHE");
        command
    };
    let ended = async |program: Program| {
        let postmaster = program.postmaster;
        drop(program);
        eventually("the end of postgres", || !is_alive(postmaster)).await;
    };
    ended(Program::start(as_nobody())).await;
    // This test's own process, and the first one of all, whose folders `nobody` may not look at.
    for pid in [std::process::id(), 1] {
        let text = format!(
            "{pid}\n{0}/postgres\n1700000000\n5432\n{0}/postgres.run\n\n",
            root.path().display()
        );
        let file = root.path().join("postgres/postmaster.pid");
        fs::write(&file, text).unwrap();
        std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        let begun = std::time::Instant::now();
        let program = Program::start(as_nobody());
        // It would wait for another program for a minute.
        assert!(
            begun.elapsed() < std::time::Duration::from_secs(55),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(ask(&program.url, "SELECT 'up'").await, "up");
        ended(program).await;
    }
}

#[tokio::test]
async fn spoilt_pid_files_and_open_folders_are_mended() {
    let root = tempfile::tempdir().unwrap();
    crashed_cluster(root.path()).await;
    for text in [
        "",
        "\n",
        "not a number\n",
        "999999999\n/elsewhere\n",
        "4711",
        "\u{0}\u{0}\u{0}\u{0}",
    ] {
        fs::write(root.path().join("postgres/postmaster.pid"), text).unwrap();
        fs::set_permissions(
            root.path().join("postgres"),
            fs::Permissions::from_mode(0o777),
        )
        .unwrap();
        let database = Database::start(Options::new(root.path()))
            .await
            .unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert!(!database.is_shared());
        assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up", "{text:?}");
        database.stop().await;
    }
}

async fn read_kept(database: &Database) -> sqlx::Result<String> {
    let mut connection = PgConnection::connect(&database.url()).await?;
    sqlx::query_scalar("SELECT what FROM kept")
        .fetch_one(&mut connection)
        .await
}

#[tokio::test]
async fn committed_data_survives_the_crash_of_a_process() {
    let root = tempfile::tempdir().unwrap();
    let database = Database::start(Options::new(root.path())).await.unwrap();
    for round in 0..5 {
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        sqlx::query("CREATE TABLE kept AS SELECT 'still here' AS what")
            .execute(&mut connection)
            .await
            .unwrap();
        // A backend that is killed takes all others along, and the memory that they share.
        assert!(
            Command::new("kill")
                .args(["-9", &pid.to_string()])
                .status()
                .unwrap()
                .success()
        );
        eventually("the end of the backend", || !is_alive(pid)).await;
        // A connection that was let in before the others were ended goes with them.
        let begun = std::time::Instant::now();
        let kept = loop {
            match read_kept(&database).await {
                Ok(kept) => break kept,
                Err(error) => assert!(
                    begun.elapsed() < std::time::Duration::from_secs(120),
                    "{error}"
                ),
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        };
        assert_eq!(kept, "still here", "round {round}");
        run(&database, "DROP TABLE kept").await;
    }
}

/// Whether there is what `initdb` makes before it is a cluster.
fn is_unfinished(root: &Path) -> bool {
    let mut names = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names.any(|name| name.to_string_lossy().starts_with("postgres.new-"))
}

/// Kills a program in its `initdb`; `None` where that was over before.
async fn interrupted_initdb() -> Option<tempfile::TempDir> {
    let root = tempfile::tempdir().unwrap();
    let mut program = command(root.path())
        .env_remove("SVC_PG_INITDB_CACHE")
        .spawn()
        .unwrap();
    eventually("the start of initdb", || {
        is_unfinished(root.path()) || root.path().join("postgres").exists()
    })
    .await;
    program.kill().unwrap();
    program.wait().unwrap();
    is_unfinished(root.path()).then_some(root)
}

#[tokio::test]
async fn an_interrupted_initdb_is_no_cluster() {
    let mut tries = 0..10;
    let root = loop {
        tries.next().expect("initdb wasn't interrupted");
        if let Some(root) = interrupted_initdb().await {
            break root;
        }
    };
    let database = Database::start(Options::new(root.path())).await.unwrap();
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
    assert!(!is_unfinished(root.path()));
}
