//! Serves the blog; see the library beside this file.

use svc::{Server, create_svc_app};

#[tokio::main]
async fn main() -> svc::Result<()> {
    let server = Server::from_env().await?;
    let app = create_svc_app(blog::options()?).await?;
    server
        .serve(blog::traced(blog::measured(blog::limited(app)?)?)?)
        .await
}
