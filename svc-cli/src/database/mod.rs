//! Connections to the project's database.

mod hint;
mod lexer;
mod script;
mod tls;
mod tokens;
mod url;

use std::future::Future;
use std::time::Duration;

use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

use crate::failure::{Failure, Result};

pub(crate) use script::{DEEPEST, Statement, depth, statements};
pub(crate) use tokens::{Token, mentions, tokens};
pub(crate) use url::{Target, without_password};

/// The maximum time to wait for a server's response.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a future on a single-threaded runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .map_err(Failure::io("start a runtime"))?
        .block_on(work)
}

/// Checks that a URL can be parsed; the error gives the reason.
pub(crate) fn check_url(url: &str) -> Result<()> {
    Target::parse(url).map(drop)
}

/// Connects to the database of a URL.
pub(crate) async fn connect(url: &str) -> Result<Client> {
    open(&Target::parse(url)?).await
}

/// Connects to a database.
pub(crate) async fn open(target: &Target) -> Result<Client> {
    let config = target.config();
    let connecting = config.connect(tls::connector(target)?);

    // The driver's `connect_timeout` does not include TLS and the authentication.
    let connected = tokio::time::timeout(PATIENCE, connecting).await;
    let failed = |why: String| Failure::new(format!("cannot connect to {}: {why}", shown(config)));
    let (client, connection) = match connected {
        Ok(Ok(both)) => both,
        Ok(Err(error)) => return Err(failed(reason(&error)).hints(hint::of(&error, target))),
        Err(_) => {
            let failure = failed(format!("no response within {} seconds", PATIENCE.as_secs()));
            return Err(failure.hints(hint::unreachable(target)));
        }
    };

    // It ends with the client; its errors also appear in the client's calls.
    tokio::spawn(connection);

    Ok(client)
}

/// The address of a database, without secrets.
pub(crate) fn shown(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => public(host).to_owned(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => "localhost".to_owned(),
    };

    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = public(
        config
            .get_dbname()
            .or(config.get_user())
            .unwrap_or_default(),
    );

    format!("the database `{database}` at {host}:{port}")
}

/// The part of a name after anything that may belong to a password: a password with an unencoded
/// `@` or `/` ends early in a URL, and the rest of it is parsed as the host or the database.
fn public(name: &str) -> &str {
    name.rsplit_once('@').map_or(name, |(_, rest)| rest)
}

/// The causes of an error: the driver's own text only says that an error occurred.
pub(crate) fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        // The message alone often lacks the name of the object, which the detail has.
        let more = [error.detail(), error.hint()].into_iter().flatten();
        return more.fold(error.message().to_owned(), |text, more| {
            format!("{text}; {more}")
        });
    }

    let first = std::error::Error::source(error);
    let causes: Vec<String> = std::iter::successors(first, |error| error.source())
        .map(ToString::to_string)
        .collect();

    if causes.is_empty() {
        error.to_string()
    } else {
        causes.join(": ")
    }
}
