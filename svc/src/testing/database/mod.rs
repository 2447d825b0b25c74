//! A database of a test's own: a copy of a template, which is made once for each set-up.

mod grants;
mod live;
mod location;
mod phase;
mod server;
mod setup;
mod template;

use std::sync::Arc;

pub use setup::Setup;

use self::live::LiveDatabase;
use crate::postgres::{ConnectConfig, ScriptConnection};
use crate::{AppOptions, Error, Result};

/// A database of a test's own. It is dropped when the test has succeeded, and with the server at the latest.
///
/// `#[svc::test]` gives one to a test; [`Database::create`] makes one anywhere else.
///
/// ```
/// # const SCHEMA: &str = "CREATE VIEW v_post AS SELECT gen_random_uuid() AS id, 'Hello' AS title";
/// use svc::prelude::*;
/// use svc::testing::{Client, Database};
///
/// # #[svc_type(sql_source = "v_post")]
/// # struct Post { id: Uuid, title: String }
/// # #[svc::query]
/// # async fn posts() -> Vec<Post>;
/// #[svc::test(sql = SCHEMA)]
/// async fn posts_are_listed(database: Database) -> Result<()> {
///     let client = Client::new(database.options().queries(queries![posts])).await?;
///     let answer = client.query("{ posts { title } }").await;
///     assert_eq!(answer.data()["posts"][0]["title"], "Hello");
///     Ok(())
/// }
/// ```
///
/// The server is that of `SVC_TEST_DATABASE_URL`, or else an embedded one, with the feature `embedded`, which ends with the
/// program. On the server of the variable the database of a failed test is kept until the test runs again, and the
/// test says where.
#[derive(Debug)]
pub struct Database {
    live: Arc<LiveDatabase>,
}

impl Database {
    /// Creates a database, for tests without `#[svc::test]`, and for tests that need several.
    ///
    /// # Errors
    /// Where no PostgreSQL can be had, or a statement of the set-up fails, with its file and line.
    pub async fn create(setup: &Setup) -> Result<Self> {
        // Those of a test are named after it.
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("test").to_owned();
        let setup = setup.clone();
        tokio::task::spawn_blocking(move || Self::create_blocking(&setup, &test)).await?
    }

    /// Creates the database of a test, outside of tasks.
    pub(super) fn create_blocking(setup: &Setup, test: &str) -> Result<Self> {
        let live = LiveDatabase::create(&setup.read()?, test)?;
        Ok(Self { live: Arc::new(live) })
    }

    /// Returns options with this database and otherwise the defaults, which no variable of the machine changes.
    pub fn options(&self) -> AppOptions {
        AppOptions::new().database_url(self.url())
    }

    /// Returns the URL as which the service connects: as the [`Setup::role`], if there is one.
    pub fn url(&self) -> &str {
        &self.live.url
    }

    /// Returns the URL of the owner, who has run the set-up.
    pub fn owner_url(&self) -> &str {
        &self.live.owner_url
    }

    /// Returns the name of the database.
    pub fn name(&self) -> &str {
        &self.live.name
    }

    /// Runs statements as the owner, in one transaction unless they say otherwise.
    ///
    /// # Errors
    /// The statement that fails, with its line.
    pub async fn execute(&self, sql: &str) -> Result<()> {
        let mut connection = connect(self.owner_url()).await?;
        Ok(connection.run(sql).await?)
    }

    /// Returns a pool of sqlx as the owner, to look at the rows that are there in the end.
    ///
    /// # Errors
    /// Where the URL is not one of sqlx.
    #[cfg(feature = "sqlx")]
    pub fn pool(&self) -> Result<sqlx::PgPool> {
        Ok(sqlx::PgPool::connect_lazy(self.owner_url())?)
    }

    /// Returns what drops the database in the end, when all have let go of it.
    pub(super) fn guard(&self) -> Arc<LiveDatabase> {
        self.live.clone()
    }
}

/// Opens a connection to the database of a URL.
async fn connect(url: &str) -> Result<ScriptConnection> {
    let variable = crate::settings::variable;
    let config = ConnectConfig::parse(url, &variable)
        .map_err(|bad| Error::internal(format!("the database URL of the tests cannot be used: {bad}")))?;
    ScriptConnection::open(&config).await.map_err(|error| {
        let place = ConnectConfig::shown(url);
        Error::internal(format!("the tests cannot reach {place}: {}", error.with_sources()))
    })
}
