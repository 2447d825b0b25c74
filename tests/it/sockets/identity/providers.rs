//! Providers that cannot identify the user.

use serde_json::{Value, json};
use svc::auth::{AuthError, AuthProvider, Claims};
use svc::prelude::*;
use svc_tests::{App, Socket};

use super::super::service::{Watched, nowhere, options};
use super::{initialised, user_of};

/// A provider that cannot say anything.
struct Away;

impl AuthProvider for Away {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        Err(AuthError::unavailable("the keys are away"))
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        Err(AuthError::unavailable("the keys are away"))
    }
}

/// The client is to connect again while the user cannot be identified.
#[tokio::test]
async fn an_unreachable_provider_closes_1013() {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(options.auth_provider(Away)).await;
    let closed = initialised(&app, json!({ "authorization": "Bearer any" }))
        .await
        .unwrap_err();
    assert_eq!(
        closed,
        (1013, "who asks cannot be verified at the moment".to_owned())
    );
    let mut socket = Socket::ready(&app).await;
    socket
        .send(&json!({ "type": "ping", "payload": { "authorization": "Bearer any" } }))
        .await;
    assert_eq!(socket.closed().await.0, 1013);
}

/// A provider that panics.
struct Broken;

impl AuthProvider for Broken {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        panic!("as it does")
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        panic!("as it does")
    }
}

#[tokio::test]
async fn a_provider_that_panics_closes_4500() {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(options.auth_provider(Broken)).await;
    let closed = initialised(&app, json!({ "authorization": "Bearer any" }))
        .await
        .unwrap_err();
    assert_eq!(closed, (4500, "Internal server error".to_owned()));
    let mut socket = Socket::ready(&app).await;
    assert_eq!(user_of(&mut socket).await, Value::Null);
}
