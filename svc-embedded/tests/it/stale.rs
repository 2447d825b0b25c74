//! Leftovers of a crash, which must not block the next start.

use std::{fs, path::Path, process::Command};

use svc_embedded::{Database, Options};

use crate::{
    program::command,
    support::{ask, eventually, is_alive},
};

/// Kills the postmaster itself, which then removes none of its files.
async fn crashed_cluster(root: &Path) {
    let database = Database::start(Options::new(root)).await.unwrap();
    let pid = database.pid();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
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
async fn an_interrupted_initdb_is_no_cluster() {
    let root = tempfile::tempdir().unwrap();
    let left = || {
        let mut names = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with("postgres.new-"))
    };
    let mut program = command(root.path()).spawn().unwrap();
    eventually("the start of initdb", left).await;
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(left(), "initdb wasn't interrupted");

    let database = Database::start(Options::new(root.path())).await.unwrap();
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
    assert!(!left());
}
