//! Refresh tokens are exchanged once.

use futures_util::future::join_all;
use svc::auth::AuthProvider as _;
use svc_tests::Log;

use super::client::{Held, PASSWORD, assert_accepted, assert_refused, login, refresh, register};
use super::service::serve;

/// One of them succeeds; then the session ends, and one event is logged.
#[tokio::test]
async fn twenty_concurrent_uses_of_a_refresh_token_end_its_session() {
    let log = Log::start();
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let other = Held::of(&login(&service.app, "ada", PASSWORD).await);
    let replies = join_all((0..20).map(|_| refresh(&service.app, &held.refresh))).await;
    let renewed: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert_eq!(renewed.len(), 1);
    assert!(
        replies
            .iter()
            .all(|reply| [200, 401].contains(&reply.status))
    );
    assert_refused(&service.app, &held).await;
    assert_refused(&service.app, &Held::of(renewed[0])).await;
    assert_accepted(&service.app, &other).await;
    assert_eq!(
        log.text().matches("a refresh token was used twice").count(),
        1,
        "{}",
        log.text()
    );
}

#[tokio::test]
async fn reuse_of_an_old_refresh_token_ends_its_session() {
    let service = serve().await;
    let mut held = vec![register(&service.app, "ada").await];
    for _ in 0..3 {
        held.push(Held::of(
            &refresh(&service.app, &held.last().unwrap().refresh).await,
        ));
    }
    assert_accepted(&service.app, held.last().unwrap()).await;
    assert_eq!(refresh(&service.app, &held[1].refresh).await.status, 401);
    for held in &held {
        assert_refused(&service.app, held).await;
    }
}

#[tokio::test]
async fn a_suspended_account_gets_no_new_tokens() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    service
        .database
        .execute("UPDATE svc_auth.account SET disabled = true")
        .await;
    assert_eq!(refresh(&service.app, &held.refresh).await.status, 401);
    assert_refused(&service.app, &held).await;
}

/// A role that was granted meanwhile is in the next access token.
#[tokio::test]
async fn refreshed_tokens_have_the_current_roles() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    service
        .database
        .execute("UPDATE svc_auth.account SET roles = '{editor}', permissions = '{posts:write}'")
        .await;
    let (access, _) = service.provider.refresh_token(&held.refresh).await.unwrap();
    let user = service.provider.get_user_from_token(&access).await.unwrap();
    assert!(user.has_role("editor") && user.has_permission("posts:write"));
}
