//! The texts of the messages.

use std::{fs, path::Path};

use svc_embedded::{Binaries, Database, Error, Options};

use crate::program::command;

async fn error(options: Options) -> String {
    Database::start(options).await.unwrap_err().to_string()
}

fn output(root: &Path, setting: (&str, &Path)) -> String {
    let output = command(root).env(setting.0, setting.1).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test]
async fn a_wrong_folder_is_named() {
    let root = tempfile::tempdir().unwrap();
    let message = error(Options::new(root.path()).binaries("/nonexistent/bin")).await;
    assert_eq!(
        message,
        "the option `binaries` is `/nonexistent/bin`, but it holds no program `postgres`; \
         set it to the folder that holds `postgres` and `initdb`, or unset it to search the usual places"
    );
}

#[test]
fn a_wrong_svc_pg_bin_is_named_and_not_skipped() {
    let root = tempfile::tempdir().unwrap();
    let message = output(root.path(), ("SVC_PG_BIN", Path::new("/nonexistent/bin")));
    assert!(message.contains("WrongBinaries"), "{message}");
    assert!(
        message.contains("SVC_PG_BIN") && message.contains("/nonexistent/bin"),
        "{message}"
    );
    assert!(
        message.contains("it holds no program `postgres`"),
        "{message}"
    );
}

#[test]
fn a_missing_server_error_names_the_solutions() {
    let message = Error::NoServer { download: None }.to_string();
    assert_eq!(
        message,
        "no PostgreSQL server found; install one (for example `apt-get install postgresql`), \
         set SVC_PG_BIN to the folder that holds `postgres` and `initdb`, \
         or set SVC_DATABASE_URL to a server that runs already"
    );
}

#[tokio::test]
async fn a_folder_of_another_major_version_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let data = root.path().join("postgres");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("PG_VERSION"), "11\n").unwrap();
    let server = Binaries::find(None).await.unwrap();
    let message = error(Options::new(root.path())).await;
    let expected = format!(
        "was made by PostgreSQL 11, but the server in `{}` is {}; delete the folder to start afresh, \
         or set SVC_PG_BIN to the folder with the programs of PostgreSQL 11",
        server.folder().display(),
        server.version()
    );
    assert!(message.ends_with(&expected), "{message}");
}

#[tokio::test]
async fn a_folder_with_something_else_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("postgres")).unwrap();
    fs::write(root.path().join("postgres/thesis.txt"), "years of work").unwrap();
    let message = error(Options::new(root.path())).await;
    assert!(
        message.contains("isn't empty and isn't a PostgreSQL cluster"),
        "{message}"
    );
    assert!(root.path().join("postgres/thesis.txt").exists());
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_quoted() {
    let root = tempfile::tempdir().unwrap();
    let message = error(Options::new(root.path()).setting("work_mem", "plenty")).await;
    assert!(
        message.starts_with("postgres ended while it started (exit status: 1)"),
        "{message}"
    );
    assert!(
        message.contains(r#"invalid value for parameter "work_mem": "plenty""#),
        "{message}"
    );
}
