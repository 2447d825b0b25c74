//! Serves the service; see the library beside this file.

#[tokio::main]
async fn main() -> svc::Result<()> {
    svc::serve(svc::create_svc_app(app::options()?).await?).await
}
