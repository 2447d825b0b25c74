use svc::prelude::*;

pub use svc::{RedisClient, Upload, UserContext, accounts, embedded, sessions, setup_metrics, setup_tracing, testing};

#[svc_input]
pub struct NewUser {
    #[svc(pattern = "^[a-z]+$")]
    name: String,
}

pub async fn serve(listener: tokio::net::TcpListener, router: svc::axum::Router) {
    svc::axum::serve(listener, router).await.unwrap();
}
