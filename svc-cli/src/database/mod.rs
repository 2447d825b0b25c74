//! Connections to the project's database.

mod script;
mod tls;
mod url;

use std::future::Future;
use std::time::Duration;

use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};

use crate::failure::{Failure, Result};

pub(crate) use script::{Statement, statements};
pub(crate) use url::Target;

/// The longest time that a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs what waits, on a runtime of one thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Failure::io("start a runtime"))?.block_on(work)
}

/// Whether a URL can be read; a bad one is an error that says why.
pub(crate) fn check_url(url: &str) -> Result<()> {
    Target::parse(url).map(drop)
}

/// A connection to the database of a URL.
pub(crate) async fn connect(url: &str) -> Result<Client> {
    open(&Target::parse(url)?).await
}

/// A connection to a database.
pub(crate) async fn open(target: &Target) -> Result<Client> {
    let config = target.config();
    let connecting = config.connect(tls::connector(target)?);
    let connected = tokio::time::timeout(PATIENCE, connecting).await;
    let failed = |why: String| Failure::new(format!("cannot connect to {}: {why}", shown(config)));
    let (client, connection) = match connected {
        Ok(Ok(both)) => both,
        Ok(Err(error)) => return Err(with_hint(failed(reason(&error)), &error, config)),
        Err(_) => return Err(failed(format!("no answer in {} seconds", PATIENCE.as_secs()))),
    };
    // It ends with the client; an error of it is one of the client's calls too.
    tokio::spawn(connection);
    Ok(client)
}

/// The place of a database, without what is secret.
pub(crate) fn shown(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("the database `{database}` at {host}:{port}")
}

/// An error of PostgreSQL with its causes: the driver's own text is only "db error".
pub(crate) fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let more = [error.detail(), error.hint()].into_iter().flatten();
        return more.fold(error.message().to_owned(), |text, more| format!("{text}; {more}"));
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn with_hint(failure: Failure, error: &tokio_postgres::Error, config: &Config) -> Failure {
    let code = error.code();
    if code == Some(&SqlState::INVALID_PASSWORD) || code == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) {
        return failure.hint(
            "correct user and password in SVC_DATABASE_URL; in a password write `%40` for @, `%23` for #, \
             `%3F` for ?, `%25` for %, `%2F` for /",
        );
    }
    if code == Some(&SqlState::UNDEFINED_DATABASE) {
        let name = config.get_dbname().unwrap_or_default();
        return failure.hint(format!("make it: svc db start, or createdb {name} on that server"));
    }
    if code.is_none() {
        return failure.hint("start it: svc db start; or correct SVC_DATABASE_URL in .env");
    }
    failure
}
