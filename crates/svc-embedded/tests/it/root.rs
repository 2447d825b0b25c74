//! The ways to run below root. As another user there is nothing to test here.

use std::{
    fs::{self, Permissions},
    os::unix::{fs::MetadataExt, fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::Command,
};

use svc_embedded::{Database, Options};

use crate::{
    program::{Program, command},
    support::{ask, is_root, run},
};

const CLOSED: u32 = 0o700;
const OPEN: u32 = 0o755;

fn root(mode: u32) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::set_permissions(root.path(), Permissions::from_mode(mode)).unwrap();
    root
}

fn namespaces_work() -> bool {
    let status = Command::new("unshare").args(["--user", "true"]).status();
    status.is_ok_and(|status| status.success())
}

fn owner(database: &Database) -> u32 {
    fs::metadata(database.data()).unwrap().uid()
}

#[tokio::test]
async fn a_namespace_reaches_roots_own_folders() {
    let root = root(CLOSED);
    let options = Options::new(root.path()).initdb_cache(None);
    let database = Database::start(options).await.unwrap();
    assert_eq!(
        database.data(),
        root.path().canonicalize().unwrap().join("postgres")
    );
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
}

#[tokio::test]
async fn without_namespaces_another_user_runs_the_server() {
    if !is_root() {
        return;
    }
    let root = root(OPEN);
    let options = || {
        Options::new(root.path())
            .user_namespace(false)
            .initdb_cache(None)
    };
    let database = Database::start(options()).await.unwrap();
    assert_ne!(owner(&database), 0);
    assert_eq!(
        database.data(),
        root.path().canonicalize().unwrap().join("postgres")
    );
    run(
        &database,
        "CREATE TABLE kept AS SELECT 'still here' AS what",
    )
    .await;
    database.stop().await;

    let with_namespace = Database::start(Options::new(root.path())).await.unwrap();
    assert_eq!(owner(&with_namespace) == 0, namespaces_work());
    assert_eq!(
        ask(&with_namespace.url(), "SELECT what FROM kept").await,
        "still here"
    );
    with_namespace.stop().await;

    let again = Database::start(options()).await.unwrap();
    assert_eq!(
        ask(&again.url(), "SELECT what FROM kept").await,
        "still here"
    );
}

#[tokio::test]
async fn without_namespaces_a_closed_folder_is_replaced() {
    if !is_root() {
        return;
    }
    let root = root(CLOSED);
    let options = || {
        Options::new(root.path())
            .user_namespace(false)
            .initdb_cache(None)
    };
    let database = Database::start(options()).await.unwrap();
    let short = database.data().parent().unwrap().to_path_buf();
    assert!(short.starts_with("/tmp"), "{}", short.display());
    run(
        &database,
        "CREATE TABLE kept AS SELECT 'still here' AS what",
    )
    .await;
    database.stop().await;

    let again = Database::start(options()).await.unwrap();
    assert_eq!(
        ask(&again.url(), "SELECT what FROM kept").await,
        "still here"
    );
    again.stop().await;
    fs::remove_dir_all(short).unwrap();
}

#[tokio::test]
async fn a_temporary_cluster_works_without_namespaces() {
    let options = Options::temporary()
        .user_namespace(false)
        .initdb_cache(None);
    let database = Database::start(options).await.unwrap();
    let root = PathBuf::from(database.data().parent().unwrap());
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
    drop(database);
    assert!(!root.exists());
}

#[tokio::test]
async fn an_ordinary_user_runs_the_server_itself() {
    if !is_root() {
        return;
    }
    const NOBODY: u32 = 65_534;
    let root = root(OPEN);
    std::os::unix::fs::chown(root.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = command(root.path());
    command
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .env("HOME", root.path())
        .env_remove("SVC_PG_INITDB_CACHE");
    let program = Program::start(command);
    assert_eq!(ask(&program.url, "SELECT 'up'").await, "up");
    assert_eq!(
        fs::metadata(root.path().join("postgres")).unwrap().uid(),
        NOBODY
    );
}

#[tokio::test]
async fn root_takes_no_cluster_from_a_user() {
    if !is_root() {
        return;
    }
    const STRANGER: u32 = 54_321;
    let root = root(OPEN);
    Database::start(Options::new(root.path()))
        .await
        .unwrap()
        .stop()
        .await;
    let data = root.path().join("postgres");
    assert!(
        Command::new("chown")
            .args(["-R", &STRANGER.to_string()])
            .arg(&data)
            .status()
            .unwrap()
            .success()
    );
    let error = Database::start(Options::new(root.path()))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("belongs to user 54321"),
        "{error}"
    );
    assert_eq!(fs::metadata(&data).unwrap().uid(), STRANGER);
}
