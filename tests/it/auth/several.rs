//! Several providers, each with a revocation service.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use svc::auth::{
    AuthError, AuthProvider, Claims, MemoryRevocationStore, MultiProvider, RevocableToken,
    RevocationConfig, RevocationStore, SignedTokenProvider, TokenRevocationService, UserContext,
};
use svc_tests::{App, Socket};

use super::revocation::{Counting, user};
use super::service::{options, query};
use super::token::{SECRET, USER, claims, signed};

const OTHER: &[u8] = b"the secret of another provider, also long enough";

/// A provider of signed tokens that revokes them.
#[derive(Clone)]
pub(super) struct Revocable {
    signed: SignedTokenProvider,
    revocation: TokenRevocationService,
}

impl Revocable {
    pub(super) fn new(secret: &[u8], revocation: TokenRevocationService) -> Self {
        svc_tests::secret(String::from_utf8_lossy(secret));
        Self {
            signed: SignedTokenProvider::with_secret(secret).unwrap(),
            revocation,
        }
    }
}

impl AuthProvider for Revocable {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        self.signed.validate_token(token).await
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        self.signed.get_user_from_token(token).await
    }

    async fn revoke_token(&self, token: &str) -> Result<(), AuthError> {
        let (claims, user) = (
            self.validate_token(token).await?,
            self.get_user_from_token(token).await?,
        );
        self.revocation
            .revoke(&RevocableToken::new(&claims, &user))
            .await
    }

    fn revocation(&self) -> Option<TokenRevocationService> {
        Some(self.revocation.clone())
    }
}

fn kept_in(store: impl RevocationStore) -> TokenRevocationService {
    TokenRevocationService::new(store, RevocationConfig::default())
}

/// Two providers, whose revocations are kept apart.
fn two() -> [Revocable; 2] {
    [SECRET, OTHER].map(|secret| Revocable::new(secret, kept_in(MemoryRevocationStore::new())))
}

async fn serve(first: &Revocable, second: &Revocable) -> App {
    App::serve(options().auth_provider(MultiProvider::new().or(first.clone()).or(second.clone())))
        .await
}

fn token_of(secret: &[u8], id: &str) -> String {
    signed(
        r#"{"alg":"HS256"}"#,
        &claims(json!({ "jti": id })).to_string(),
        secret,
    )
}

/// Also on an open socket.
#[tokio::test]
async fn a_token_revoked_by_any_provider_is_refused() {
    let [first, second] = two();
    let app = serve(&first, &second).await;
    for (provider, secret, ids) in [(&first, SECRET, ["1", "2"]), (&second, OTHER, ["3", "4"])] {
        let [ended, held] = ids.map(|id| token_of(secret, id));
        let payload = |token: &str| json!({ "authorization": format!("Bearer {token}") });
        let mut socket = Socket::ready_with(&app, payload(&ended)).await;
        let mut other = Socket::ready_with(&app, payload(&held)).await;
        assert_eq!(user(&app, &ended).await, USER);
        provider.revoke_token(&ended).await.unwrap();
        assert_eq!(
            socket.closed().await,
            (4403, "the token is not valid".to_owned())
        );
        assert_eq!(
            [user(&app, &ended).await, user(&app, &held).await],
            [Value::Null, json!(USER)]
        );
        other.subscribe("1", "{ user_id }").await;
        assert_eq!(other.next().await["payload"]["data"]["user_id"], USER);
    }
}

#[tokio::test]
async fn a_disabled_revocation_service_leaves_the_others_enabled() {
    let mut config = RevocationConfig::default();
    config.enabled = false;
    let off = TokenRevocationService::new(MemoryRevocationStore::new(), config);
    let (first, [_, second]) = (Revocable::new(SECRET, off), two());
    let app = serve(&first, &second).await;
    let (kept, ended) = (token_of(SECRET, "1"), token_of(OTHER, "2"));
    assert!(matches!(
        first.revoke_token(&kept).await,
        Err(AuthError::NotSupported)
    ));
    second.revoke_token(&ended).await.unwrap();
    assert_eq!(
        [user(&app, &kept).await, user(&app, &ended).await],
        [json!(USER), Value::Null]
    );
}

/// The service of a single provider sees the revocation too.
#[tokio::test]
async fn a_combined_revocation_service_revokes_in_every_provider() {
    let [first, second] = two();
    let several = MultiProvider::new()
        .or(first.clone())
        .or(second.clone())
        .revocation()
        .unwrap();
    let tokens = [token_of(SECRET, "1"), token_of(OTHER, "2")];
    several.revoke_all(USER).await.unwrap();
    for (provider, token) in [first, second].into_iter().zip(tokens) {
        let app = App::serve(options().auth_provider(provider)).await;
        assert_eq!(user(&app, &token).await, Value::Null);
    }
}

#[tokio::test]
async fn revocations_of_the_application_and_its_provider_both_apply() {
    let ([provider, _], application) = (two(), kept_in(MemoryRevocationStore::new()));
    let app = App::serve(
        options()
            .auth_provider(provider.clone())
            .token_revocation(application.clone()),
    )
    .await;
    let tokens = ["1", "2", "3"].map(|id| token_of(SECRET, id));
    for token in &tokens {
        assert_eq!(user(&app, token).await, USER);
    }
    provider.revoke_token(&tokens[0]).await.unwrap();
    let claims = provider.validate_token(&tokens[1]).await.unwrap();
    let revoked = RevocableToken::new(
        &claims,
        &provider.get_user_from_token(&tokens[1]).await.unwrap(),
    );
    application.revoke(&revoked).await.unwrap();
    let mut users = Vec::new();
    for token in &tokens {
        users.push(user(&app, token).await);
    }
    assert_eq!(users, [Value::Null, Value::Null, json!(USER)]);
}

#[tokio::test]
async fn a_shared_revocation_service_is_read_once() {
    let store = Counting::default();
    let [first, second] = {
        let shared = kept_in(store.clone());
        [SECRET, OTHER].map(|secret| Revocable::new(secret, shared.clone()))
    };
    let app = serve(&first, &second).await;
    for (secret, reads) in [(SECRET, 1), (OTHER, 2)] {
        assert_eq!(user(&app, &token_of(secret, "1")).await, USER);
        assert_eq!(store.reads.load(Ordering::Relaxed), reads);
    }
}

#[tokio::test]
async fn one_unavailable_store_makes_tokens_unavailable() {
    let store = Counting::default();
    let ([first, _], second) = (two(), Revocable::new(OTHER, kept_in(store.clone())));
    let app = serve(&first, &second).await;
    let (ended, held) = (token_of(SECRET, "1"), token_of(SECRET, "2"));
    first.revoke_token(&ended).await.unwrap();
    store.away.store(true, Ordering::Relaxed);
    assert_eq!(query(&app, &held, "{ open }").await.status, 503);
    // That one is revoked, whatever the other store holds.
    assert_eq!(user(&app, &ended).await, Value::Null);
    store.away.store(false, Ordering::Relaxed);
    assert_eq!(user(&app, &held).await, USER);
}

/// The socket closes without waiting for the other store.
#[tokio::test]
async fn an_unavailable_store_hides_no_other_revocation_from_sockets() {
    let store = Counting::default();
    let ([first, _], second) = (two(), Revocable::new(OTHER, kept_in(store.clone())));
    let app = serve(&first, &second).await;
    let ended = token_of(SECRET, "1");
    let payload = json!({ "authorization": format!("Bearer {ended}") });
    let mut socket = Socket::ready_with(&app, payload).await;
    store.away.store(true, Ordering::Relaxed);
    first.revoke_token(&ended).await.unwrap();
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
}
