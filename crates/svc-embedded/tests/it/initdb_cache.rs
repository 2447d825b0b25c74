//! Clusters that are copies from the cache of `initdb`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use svc_embedded::{Database, Options};

use crate::{
    program::{Program, command},
    support::{ask, run},
};

/// The number that `initdb` gives a cluster.
const IDENTIFIER: &str = "SELECT system_identifier::text FROM pg_control_system()";

/// An empty cache that every user can enter.
fn cache() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), Permissions::from_mode(0o755)).unwrap();
    cache
}

async fn start(root: &Path, cache: &Path) -> Database {
    let options = Options::new(root).initdb_cache(Some(cache.to_path_buf()));
    Database::start(options).await.unwrap()
}

/// The clusters in a cache.
fn clusters(cache: &Path) -> usize {
    let entries = fs::read_dir(cache).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().path().is_dir())
        .count()
}

#[tokio::test]
async fn later_clusters_are_copies_without_the_data_of_the_first() {
    let (cache, one, other) = (
        cache(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let first = start(one.path(), cache.path()).await;
    run(&first, "CREATE TABLE of_the_first (id int)").await;
    let identifier = ask(&first.url(), IDENTIFIER).await;

    // The second program has the cache from its environment.
    let mut command = command(other.path());
    command.env("SVC_PG_INITDB_CACHE", cache.path());
    let second = Program::start(command);
    assert_eq!(ask(&second.url, IDENTIFIER).await, identifier);
    assert_eq!(clusters(cache.path()), 1);

    let table = "SELECT coalesce(to_regclass('of_the_first')::text, 'none')";
    assert_eq!(ask(&first.url(), table).await, "of_the_first");
    assert_eq!(ask(&second.url, table).await, "none");

    let apart = Options::temporary().initdb_cache(None);
    let apart = Database::start(apart).await.unwrap();
    assert_ne!(ask(&apart.url(), IDENTIFIER).await, identifier);
}

#[tokio::test]
async fn starts_at_once_fill_the_cache_once() {
    let (cache, one, other) = (
        cache(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let (first, second) = tokio::join!(
        start(one.path(), cache.path()),
        start(other.path(), cache.path())
    );
    assert_eq!(ask(&first.url(), "SELECT 'up'").await, "up");
    assert_eq!(ask(&second.url(), "SELECT 'up'").await, "up");
    assert_eq!(clusters(cache.path()), 1);
}

#[tokio::test]
async fn a_cache_that_cannot_be_used_does_not_prevent_a_start() {
    let (folder, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let database = start(root.path(), &file).await;
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
}
