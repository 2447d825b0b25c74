//! Runs the service, which `lib.rs` defines.

#[tokio::main]
async fn main() -> svc::Result<()> {
    // Bind the address first, so that a program that cannot listen does nothing else.
    let server = svc::Server::from_env().await?;
    let service = svc::create_svc_app(app::options()?).await?;
    server.serve(service).await
}
