//! The server: rows that take PostgreSQL's processors as long as a table says.

use svc::prelude::*;

#[svc_type(sql_source = "v_work")]
struct Work {
    count: i32,
}

#[svc::query]
async fn work() -> Vec<Work>;

/// The view counts as many numbers as the table says.
pub(crate) const SQL: &str = "
    CREATE TABLE tb_effort (numbers int NOT NULL);
    INSERT INTO tb_effort VALUES (1);
    CREATE VIEW v_work AS SELECT count(*)::int AS count FROM generate_series(1, (SELECT numbers FROM tb_effort))";

/// Serves a database with the settings of the environment: none, but for the time of bursts if it
/// is asked for.
pub(crate) async fn serve(database: &str, port: u16) -> svc::Result<()> {
    let app = create_svc_app(
        AppOptions::from_env()?
            .database_url(database)
            .queries(queries![work]),
    )
    .await?;
    svc::Server::bind(([127, 0, 0, 1], port))
        .await?
        .run(app, std::future::pending())
        .await;
    Ok(())
}
