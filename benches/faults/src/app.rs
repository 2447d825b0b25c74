//! The service under test.

use std::net::SocketAddr;
use std::time::Duration;

use svc::Environment;
use svc::prelude::*;
use svc::sqlx;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The number of connections in each pool.
pub(crate) const POOL: u32 = 8;

/// The tables, views and functions of the service.
pub(crate) const SQL: &str = "
CREATE TABLE tb_row (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO tb_row SELECT i, 'row ' || i FROM generate_series(1, 50) AS i;
CREATE VIEW v_row AS SELECT id, name FROM tb_row;
CREATE VIEW v_slow AS SELECT 1 AS id FROM pg_sleep(0.3);
CREATE TABLE tb_written (key text NOT NULL);
CREATE FUNCTION fn_write(key text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tb_written VALUES (key);
    PERFORM pg_sleep(0.002);
    RETURN key;
END $$;";

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_slow")]
struct Slow {
    id: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;

#[svc::query]
async fn slow() -> Option<Slow>;

#[svc::query]
async fn own(ctx: &Context<'_>) -> Result<i64> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let sum = sqlx::query_scalar("SELECT sum(id) FROM tb_row")
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(sum)
}

#[svc::query]
async fn pooled(ctx: &Context<'_>) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT sum(id) FROM tb_row")
        .fetch_one(ctx.db().pool())
        .await?)
}

#[svc::mutation(function = "fn_write")]
async fn write(key: String) -> String;

/// The service, until it is stopped.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Service {
    /// Serves on a free port. A statement may take two seconds, so its deadline is two and a half.
    pub(crate) async fn start(url: &str, environment: Environment) -> anyhow::Result<Self> {
        let database = svc::DatabaseConfig {
            url: Some(url.to_owned()),
            query_timeout: Duration::from_secs(2),
            pool_timeout: Duration::from_secs(2),
            pool_size: POOL,
            ..svc::DatabaseConfig::default()
        };
        let config = SvcConfig {
            environment,
            database,
            ..SvcConfig::default()
        };
        let options = AppOptions::new().config(config);
        let app = options
            .queries(queries![rows, slow, own, pooled])
            .mutations(mutations![write]);
        let server = svc::Server::bind(([127, 0, 0, 1], 0)).await?;
        let (address, (stop, stopped)) = (server.local_addr(), oneshot::channel());
        let server = tokio::spawn(server.run(create_svc_app(app).await?, async {
            let _ = stopped.await;
        }));
        Ok(Self {
            address,
            stop,
            server,
        })
    }

    /// Ends it with its connections: what is left of it would take those of the next.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let _ = self.stop.send(());
        Ok(self.server.await?)
    }
}
