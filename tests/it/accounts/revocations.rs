//! Revocations in PostgreSQL.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc::UserContext;
use svc::accounts::PostgresRevocationStore;
use svc::auth::{Claims, RevocableToken, RevocationStore as _};

use super::service::{accounts, database};

fn token(number: usize) -> RevocableToken {
    let claims = json!({ "jti": format!("t{number}"), "sid": format!("s{number}"), "iat": 1_000 });
    let Value::Object(claims) = claims else {
        panic!("an object")
    };
    let user = UserContext::new(format!("user {number}"));
    RevocableToken::new(&Claims::new(claims), &user)
}

/// By their identifiers, their sessions and their users.
#[tokio::test]
async fn many_tokens_are_looked_up_with_one_statement() {
    let database = database().await;
    let store = PostgresRevocationStore::new(&accounts(&database));
    let tokens: Vec<_> = (0..300).map(token).collect();
    let tokens: Vec<_> = tokens.iter().collect();
    let (now, until) = (
        SystemTime::now(),
        SystemTime::now() + Duration::from_secs(600),
    );
    store.revoke(tokens[7].id().unwrap(), until).await.unwrap();
    store
        .revoke(tokens[8].session_id().unwrap(), until)
        .await
        .unwrap();
    store.revoke_all("user 9", now, until).await.unwrap();
    let before_issue = UNIX_EPOCH + Duration::from_secs(999);
    store
        .revoke_all("user 10", before_issue, until)
        .await
        .unwrap();

    let found = store.are_revoked(&tokens).await.unwrap();
    assert_eq!(found.len(), 300);
    let revoked: Vec<_> = (0..300).filter(|index| found[*index]).collect();
    assert_eq!(revoked, [7, 8, 9]);
    assert_eq!(database.statements("svc_auth.revocation(").await, 1);
    assert!(store.are_revoked(&[]).await.unwrap().is_empty());
}
