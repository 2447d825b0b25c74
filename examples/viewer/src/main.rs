//! Serves the notes; see the library beside this file.

use svc::create_svc_app;

#[tokio::main]
async fn main() -> svc::Result<()> {
    svc::serve(viewer::with_viewer(
        create_svc_app(viewer::options()?).await?,
    ))
    .await
}
