//! Serves the blog; see the library beside this file.

use svc::create_svc_app;

#[tokio::main]
async fn main() -> svc::Result<()> {
    svc::serve(create_svc_app(blog::options()?).await?).await
}
