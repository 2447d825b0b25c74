//! Serves the application; see the library beside this file.

use svc::prelude::*;

#[tokio::main]
async fn main() -> svc::Result<()> {
    let secret = std::env::var("SVC_AUTH_SECRET_KEY");
    let secret = secret
        .map_err(|_| Error::internal("set SVC_AUTH_SECRET_KEY to a secret of at least 32 bytes"))?;
    let server = svc::Server::from_env().await?;
    server
        .serve(saas::app(saas::options()?, &secret).await?)
        .await
}
