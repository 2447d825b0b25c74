//! Starting, stopping, sharing.

use svc_embedded::{Database, Error, Options};

use crate::support::{ask, is_alive, run};

#[tokio::test]
async fn data_survives_a_stop() {
    let root = tempfile::tempdir().unwrap();
    let first = Database::start(Options::new(root.path())).await.unwrap();
    let pid = first.pid();
    run(&first, "CREATE TABLE kept AS SELECT 'still here' AS what").await;
    first.stop().await;
    assert!(!is_alive(pid));

    let second = Database::start(Options::new(root.path())).await.unwrap();
    assert_eq!(
        ask(&second.url(), "SELECT what FROM kept").await,
        "still here"
    );
    assert!(!second.is_shared());
}

#[tokio::test]
async fn a_drop_stops_too_and_removes_what_is_temporary() {
    let database = Database::start(Options::temporary()).await.unwrap();
    let (pid, data) = (database.pid(), database.data().to_path_buf());
    assert!(data.join("PG_VERSION").exists());
    drop(database);
    assert!(!is_alive(pid));
    assert!(!data.parent().unwrap().exists());
}

#[tokio::test]
async fn a_second_program_shares_the_server() {
    let root = tempfile::tempdir().unwrap();
    let owner = Database::start(Options::new(root.path())).await.unwrap();
    let guest = Database::start(Options::new(root.path())).await.unwrap();
    assert!(guest.is_shared() && !owner.is_shared());
    assert_eq!((guest.pid(), guest.url()), (owner.pid(), owner.url()));
    guest.stop().await;
    assert_eq!(ask(&owner.url(), "SELECT 'up'").await, "up");
}

#[tokio::test]
async fn two_starts_at_once_make_one_server() {
    let root = tempfile::tempdir().unwrap();
    let options = || Options::new(root.path()).initdb_cache(None);
    let start = || tokio::spawn(Database::start(options()));
    let (one, other) = tokio::try_join!(start(), start()).unwrap();
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.pid(), other.pid());
    assert_ne!(one.is_shared(), other.is_shared());
}

#[tokio::test]
async fn loopback_is_there_on_demand() {
    let root = tempfile::tempdir().unwrap();
    let database = Database::start(Options::new(root.path()).tcp(true))
        .await
        .unwrap();
    let port = database.tcp_port().unwrap();
    assert!(!(32_768..=60_999).contains(&port), "{port}");
    let url = database.tcp_url_for("postgres").unwrap();
    assert_eq!(
        ask(&url, "SELECT host(inet_server_addr())").await,
        "127.0.0.1"
    );
    assert_eq!(
        ask(
            &database.url(),
            "SELECT coalesce(host(inet_server_addr()), 'socket')"
        )
        .await,
        "socket"
    );
    database.stop().await;

    let named = Database::start(Options::new(root.path()).port(Some(port)))
        .await
        .unwrap();
    assert_eq!(named.tcp_port(), Some(port));
}

#[tokio::test]
async fn sharing_a_server_without_the_port_asked_for_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let owner = Database::start(Options::new(root.path())).await.unwrap();
    assert_eq!(owner.tcp_url_for("postgres"), None);
    let error = Database::start(Options::new(root.path()).tcp(true))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TcpUnavailable { .. }), "{error}");
}

#[tokio::test]
async fn settings_reach_the_server() {
    let options = Options::temporary()
        .initdb_cache(None)
        .max_connections(37)
        .setting("work_mem", "7MB")
        .setting("fsync", "on");
    let database = Database::start(options).await.unwrap();
    assert_eq!(ask(&database.url(), "SHOW max_connections").await, "37");
    assert_eq!(ask(&database.url(), "SHOW work_mem").await, "7MB");
    assert_eq!(ask(&database.url(), "SHOW fsync").await, "on");
    assert_eq!(ask(&database.url(), "SHOW full_page_writes").await, "off");
    assert_eq!(ask(&database.url(), "SHOW server_encoding").await, "UTF8");
}

#[tokio::test]
async fn databases_are_made_copied_and_dropped() {
    let database = Database::start(Options::temporary()).await.unwrap();
    let name = r#"it's "quoted"/%"#;
    database.ensure_database(name).await.unwrap();
    database.ensure_database(name).await.unwrap();
    assert_eq!(
        ask(&database.url_for(name), "SELECT current_database()::text").await,
        name
    );

    database.create_from_template("copy", name).await.unwrap();
    let taken = database
        .create_from_template("copy", name)
        .await
        .unwrap_err();
    assert!(
        taken
            .to_string()
            .contains(r#"database "copy" already exists (42P04)"#),
        "{taken}"
    );
    database.drop_database("copy").await.unwrap();
    database.drop_database("copy").await.unwrap();
}

#[tokio::test]
async fn a_long_or_odd_path_works() {
    let root = tempfile::tempdir().unwrap();
    for name in ["x".repeat(120), "a b,c&d%2F\"'ü".to_owned()] {
        let options = Options::new(root.path().join(name)).initdb_cache(None);
        let database = Database::start(options).await.unwrap();
        assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
        let sockets = database.socket_folder().to_path_buf();
        database.stop().await;
        if !sockets.starts_with(root.path()) {
            std::fs::remove_dir_all(sockets).unwrap();
        }
    }
}
