//! Serves the shop; see the library beside this file.

use svc::Server;
use svc::prelude::*;

#[tokio::main]
async fn main() -> svc::Result<()> {
    // The address comes first, so that a start that cannot listen does nothing else.
    let server = Server::from_env().await?;
    let app = create_svc_app(shop::options()?).await?;
    server.serve(app).await
}
