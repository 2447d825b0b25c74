//! The server: a query for one cheap row, a mutation with an upload, and an identity provider.

use anyhow::anyhow;
use svc::prelude::*;
use svc::{IdpConfig, TokenAlgorithm, Upload};

#[svc_type(sql_source = "v_work")]
struct Work {
    id: i32,
}

#[svc::query]
async fn works() -> Vec<Work>;

#[svc::mutation]
async fn size(ctx: &Context<'_>, file: Upload) -> Result<i32> {
    Ok(file.open(ctx)?.size().try_into()?)
}

/// The view that the query reads.
pub(crate) const SQL: &str = "CREATE VIEW v_work AS SELECT 1 AS id";

/// Serves a database with the settings of the environment, and verifies tokens with the keys of a
/// provider on this machine.
pub(crate) async fn serve(database: &str, provider: &str, port: u16) -> anyhow::Result<()> {
    let tokens = IdpConfig {
        domain: Some(provider.to_owned()),
        api_identifier: Some("bench".to_owned()),
        algorithms: vec![TokenAlgorithm::EdDsa],
        ..IdpConfig::default()
    };
    let tokens = tokens
        .create_provider()
        .map_err(|error| anyhow!("the provider cannot be used: {error}"))?;
    let options = AppOptions::from_env()
        .map_err(|error| anyhow!("the settings cannot be used: {error:?}"))?
        .database_url(database)
        .auth_provider(tokens)
        .queries(queries![works])
        .mutations(mutations![size]);
    let app = create_svc_app(options)
        .await
        .map_err(|error| anyhow!("the server does not start: {error:?}"))?;
    svc::Server::bind(([127, 0, 0, 1], port))
        .await?
        .run(app, std::future::pending())
        .await;
    Ok(())
}
