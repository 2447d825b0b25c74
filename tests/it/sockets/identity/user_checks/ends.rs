//! Users that end, and users that need no check.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use svc::auth::{
    AuthError, AuthProvider, Authenticated, Claims, MultiProvider, SignedTokenProvider,
};

use super::super::{BOB, user_of};
use super::*;
use crate::auth::service::provider;
use crate::auth::token;

#[tokio::test]
async fn a_user_that_the_provider_refuses_is_disconnected() {
    let users = Users::default();
    let (app, watched) = serve(&users, brief()).await;
    let mut socket = socket_of(&app, ADA).await;
    socket.subscribe("1", "subscription { gated }").await;
    let events = stream_of(&app, ADA, EVENTS).await;
    watched.until_streams(2).await;
    users.answer(ADA, Answer::Refused);
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
    let text = whole(events).await;
    assert!(
        text.contains("TOKEN_INVALID") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
    watched.until_streams(0).await;
}

/// A token that says until when its user is known ends then, and costs nothing before.
#[tokio::test]
async fn a_user_that_is_known_until_the_end_of_its_token_is_not_checked() {
    let users = Users::default();
    let (app, _watched) = serve(&users, brief()).await;
    let mut fixed = socket_of(&app, BOB).await;
    let _other = socket_of(&app, ADA).await;
    users.until_asked(ADA, 5).await;
    assert_eq!(users.asked(BOB), 1);
    assert_eq!(user_of(&mut fixed).await, BOB);
}

/// Signed tokens, with the number of those that were accepted.
struct Counted(SignedTokenProvider, Arc<AtomicUsize>);

impl AuthProvider for Counted {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        self.0.validate_token(token).await
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        self.0.get_user_from_token(token).await
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let authenticated = self.0.authenticate(token).await?;
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(authenticated)
    }
}

/// The token expires later than a clock can count.
#[tokio::test]
async fn a_user_of_a_signed_token_is_not_checked() {
    let (users, count) = (Users::default(), Arc::<AtomicUsize>::default());
    users.answer(ADA, editor());
    let signed = MultiProvider::new().or(Counted(provider(), count.clone()));
    let options = checking(&Watched::new(), brief()).auth_provider(signed.or(users.clone()));
    let app = App::serve(options).await;
    let lasting = token(json!({ "sub": BOB, "exp": 1e300 }));
    let _fixed = socket_of(&app, &lasting).await;
    let _other = socket_of(&app, ADA).await;
    users.until_asked(ADA, 5).await;
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
