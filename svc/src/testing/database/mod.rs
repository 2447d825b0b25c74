//! A database for each test: a copy of a template, which is created once per setup.

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
use crate::AppOptions;
use svc_core::{Error, Result};
use svc_postgres::{ConnectConfig, ScriptConnection};

/// A database for a single test. It is dropped when the test succeeds, and with the server at the
/// latest.
///
/// `#[svc::test]` passes one to a test; [`Database::create`] creates one anywhere else.
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
/// The server is that of `SVC_TEST_DATABASE_URL`, or else, with the feature `embedded`, an embedded
/// one, which stops with the program. On the server of the variable, the database of a failed test
/// is kept until the test runs again, and the test prints its location.
#[derive(Debug)]
pub struct Database {
    live: Arc<LiveDatabase>,
}

impl Database {
    /// Creates a database, for tests without `#[svc::test]`, and for tests that need several.
    ///
    /// # Errors
    /// Fails if no PostgreSQL is available, or if a statement of the setup fails; the error then
    /// contains its file and line.
    pub async fn create(setup: &Setup) -> Result<Self> {
        // The threads of tests are named after them.
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("test").to_owned();
        let setup = setup.clone();

        // `create_blocking` blocks on another runtime, which panics inside of a task.
        tokio::task::spawn_blocking(move || Self::create_blocking(&setup, &test)).await?
    }

    /// Creates the database of a test, outside of tasks.
    pub(super) fn create_blocking(setup: &Setup, test: &str) -> Result<Self> {
        let live = LiveDatabase::create(&setup.read()?, test)?;
        Ok(Self {
            live: Arc::new(live),
        })
    }

    /// Returns options with this database and otherwise the defaults, which ignore environment
    /// variables.
    pub fn options(&self) -> AppOptions {
        AppOptions::new().database_url(self.url())
    }

    /// Returns the URL that the service connects with: as the [`Setup::role`], if there is one.
    pub fn url(&self) -> &str {
        &self.live.url
    }

    /// Returns the URL of the owner, which has run the setup.
    pub fn owner_url(&self) -> &str {
        &self.live.owner_url
    }

    /// Returns the name of the database.
    pub fn name(&self) -> &str {
        &self.live.name
    }

    /// Runs statements as the owner, in one transaction unless they control transactions
    /// themselves. They may be built at run time, because no client can send a part of them.
    ///
    /// # Errors
    /// Returns the error of the statement that fails, with its line.
    pub async fn execute(&self, sql: &str) -> Result<()> {
        let mut connection = connect(self.owner_url()).await?;
        Ok(connection.run(sql).await?)
    }

    /// Returns a sqlx pool that connects as the owner, to check the resulting rows.
    ///
    /// # Errors
    /// Fails if sqlx does not accept the URL.
    #[cfg(feature = "sqlx")]
    pub fn pool(&self) -> Result<sqlx::PgPool> {
        Ok(sqlx::PgPool::connect_lazy(self.owner_url())?)
    }

    /// Returns the value that drops the database when its last reference is dropped.
    pub(super) fn guard(&self) -> Arc<LiveDatabase> {
        self.live.clone()
    }
}

/// Opens a connection to the database of a URL.
async fn connect(url: &str) -> Result<ScriptConnection> {
    let variable = svc_core::settings::variable;
    let config = ConnectConfig::parse(url, &variable).map_err(|bad| {
        Error::internal(format!(
            "the database URL of the tests cannot be used: {bad}"
        ))
    })?;

    ScriptConnection::open(&config).await.map_err(|error| {
        let place = ConnectConfig::shown(url);
        Error::internal(format!(
            "the tests cannot reach {place}: {}",
            error.with_sources()
        ))
    })
}
