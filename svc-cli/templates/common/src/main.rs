//! Serves the service; see the library beside this file.

#[tokio::main]
async fn main() -> svc::Result<()> {
    // The address comes first, so that a start that cannot listen does nothing else.
    let server = svc::Server::from_env().await?;
    let service = svc::create_svc_app(app::options()?).await?;
    server.serve(service).await
}
