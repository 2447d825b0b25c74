//! A PostgreSQL that can be broken.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use svc::sqlx::{self, AssertSqlSafe, Connection as _, PgConnection};
use svc_embedded::{Database, Options};

use crate::app::SQL;

/// The most connections there can be: those of both pools, and a few.
pub(crate) const CONNECTIONS: u32 = 30;

pub(crate) struct Postgres {
    folder: PathBuf,
    database: Option<Database>,
    url: String,
}

impl Postgres {
    /// A new one with the tables of the measurement.
    pub(crate) async fn start() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("svc-faults-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let mut postgres = Self {
            folder,
            database: None,
            url: String::new(),
        };
        postgres.begin().await?;
        postgres.run(SQL).await?;
        Ok(postgres)
    }

    /// Starts it again, on the same data.
    pub(crate) async fn begin(&mut self) -> Result<()> {
        // The embedded server keeps commits back by default, and would lose some when it is ended
        // at once.
        let options = Options::new(&self.folder)
            .max_connections(CONNECTIONS)
            .setting("synchronous_commit", "on");
        let database = Database::start(options).await?;
        self.url = database.url();
        self.database = Some(database);
        Ok(())
    }

    /// Ends it as the signal says: SIGINT is a fast shutdown, SIGQUIT an immediate one.
    pub(crate) async fn end(&mut self, signal: &str) {
        let Some(database) = self.database.take() else {
            return;
        };
        send(signal, &[database.pid()]);
        database.stop().await;
    }

    pub(crate) async fn stop(mut self) {
        self.end("-INT").await;
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns the path of the socket on which it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        let port = self
            .url
            .split('&')
            .find_map(|part| part.strip_prefix("port="))
            .unwrap_or("5432");
        let folder = self
            .database
            .as_ref()
            .map(|database| database.socket_folder().to_owned());
        folder.unwrap_or_default().join(format!(".s.PGSQL.{port}"))
    }

    /// A connection beside the service.
    pub(crate) async fn connect(&self) -> Result<PgConnection> {
        PgConnection::connect(&self.url)
            .await
            .context("PostgreSQL takes no connection")
    }

    pub(crate) async fn run(&self, sql: &str) -> Result<()> {
        let mut connection = self.connect().await?;
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await?;
        Ok(connection.close().await?)
    }

    /// The processes that serve the service, and with `all` the one that starts them.
    pub(crate) async fn processes(&self, all: bool) -> Result<Vec<i32>> {
        let mut connection = self.connect().await?;
        let backends = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        let mut pids: Vec<i32> = sqlx::query_scalar(backends)
            .fetch_all(&mut connection)
            .await?;
        if all {
            pids.extend(self.database.as_ref().map(Database::pid));
        }
        Ok(pids)
    }

    /// Returns the number of times that each key was written.
    pub(crate) async fn written(&self) -> Result<HashMap<String, i64>> {
        let mut connection = self.connect().await?;
        let counts = "SELECT key, count(*) FROM tb_written GROUP BY key";
        let rows: Vec<(String, i64)> = sqlx::query_as(counts).fetch_all(&mut connection).await?;
        Ok(rows.into_iter().collect())
    }
}

/// Sends a signal; processes that have ended meanwhile are left out.
pub(crate) fn send(signal: &str, pids: &[i32]) {
    let pids = pids.iter().map(i32::to_string);
    let _ = Command::new("kill")
        .arg(signal)
        .args(pids)
        .stderr(Stdio::null())
        .status();
}
