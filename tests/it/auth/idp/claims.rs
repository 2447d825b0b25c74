//! From claims to users, as several identity providers write them.

use serde_json::{Value, json};
use svc::IdpConfig;
use svc_tests::App;

use super::issuer::{API, Issuer, Key, invalid, serve, user};

struct Case {
    issuer: Issuer,
    key: Key,
    app: App,
}

async fn case(change: impl FnOnce(&mut IdpConfig)) -> Case {
    let (issuer, key) = (Issuer::start().await, Key::new("a"));
    issuer.publishes(&[&key]);
    let mut config = issuer.config();
    change(&mut config);
    let app = serve(config.create_provider().unwrap()).await;
    Case { issuer, key, app }
}

impl Case {
    async fn user(&self, more: Value) -> Result<svc::UserContext, String> {
        user(&self.app, &self.key.sign(&self.issuer.claims(more))).await
    }
}

#[tokio::test]
async fn claims_become_the_user() {
    let case = case(|_| {}).await;
    let user = case.user(json!({
        "email": "ada@example.com", "name": "Ada", "https://api.example/roles": ["editor"], "org_id": "acme",
        "permissions": ["posts:write"], "scope": "openid", "roles": ["admin"],
    }));
    let user = user.await.unwrap();
    assert_eq!(
        (user.email.as_deref(), user.name.as_deref()),
        (Some("ada@example.com"), Some("Ada"))
    );
    assert_eq!(
        (user.roles, user.permissions),
        (vec!["editor".to_owned()], vec!["posts:write".to_owned()])
    );
    assert_eq!(user.metadata["org_id"], "acme");
    let user = case
        .user(json!({ "scope": "posts:read posts:write" }))
        .await
        .unwrap();
    assert_eq!((user.permissions.len(), user.roles.len()), (2, 0));
    for bad in [
        json!({ "sub": null }),
        json!({ "sub": "" }),
        json!({ "sub": 7 }),
        json!({ "https://api.example/roles": "editor" }),
        json!({ "https://api.example/roles": [7] }),
        json!({ "permissions": {} }),
        json!({ "iss": "https://evil.example/" }),
        json!({ "iss": null }),
        json!({ "aud": "other" }),
        json!({ "aud": null }),
        json!({ "aud": [API, 7] }),
    ] {
        assert_eq!(case.user(bad.clone()).await, invalid(), "{bad}");
    }
}

#[tokio::test]
async fn nested_roles_of_keycloak_are_read() {
    let case = case(|config| {
        config.roles_claim = Some("/realm_access/roles".to_owned());
        config.permissions_claim = Some("/resource_access/shop/roles".to_owned());
        config.tenant_claim = Some("/organization/id".to_owned());
    });
    let case = case.await;
    let claims = json!({
        "typ": "Bearer", "azp": "spa", "realm_access": { "roles": ["editor"] }, "organization": { "id": "acme" },
        "resource_access": { "shop": { "roles": ["buy"] } }, "tenant": "forged", "aud": [API, "account"],
    });
    let user = case.user(claims).await.unwrap();
    assert_eq!(
        (user.roles, user.permissions),
        (vec!["editor".to_owned()], vec!["buy".to_owned()])
    );
    assert_eq!(user.metadata["tenant"], "acme");
    // A user of no organization does not name one by another claim.
    assert!(
        !case
            .user(json!({ "tenant": "forged" }))
            .await
            .unwrap()
            .metadata
            .contains_key("tenant")
    );
    for other in ["ID", "Refresh", "Logout", "bearer "] {
        assert_eq!(
            case.user(json!({ "typ": other })).await,
            invalid(),
            "{other}"
        );
    }
}

#[tokio::test]
async fn cognito_tokens_are_matched_by_client_id() {
    let case = case(|config| {
        config.audience_claim = "/client_id".to_owned();
        config.api_identifier = Some("4kfs".to_owned());
        config.roles_claim = Some("/cognito:groups".to_owned());
    });
    let case = case.await;
    let access = |more: Value| {
        let mut claims = json!({ "aud": null, "client_id": "4kfs", "token_use": "access", "cognito:groups": ["staff"] });
        claims
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        claims
    };
    assert_eq!(case.user(access(json!({}))).await.unwrap().roles, ["staff"]);
    for bad in [
        json!({ "token_use": "id" }),
        json!({ "client_id": "other" }),
        json!({ "client_id": null }),
    ] {
        assert_eq!(case.user(access(bad.clone())).await, invalid(), "{bad}");
    }
}

#[tokio::test]
async fn space_separated_scopes_of_entra_are_read() {
    let case = case(|config| {
        config.roles_claim = Some("/roles".to_owned());
        config.permissions_claim = Some("/scp".to_owned());
        config.tenant_claim = Some("/tid".to_owned());
    });
    let user = case
        .await
        .user(json!({ "scp": "Posts.Read Posts.Write", "roles": ["Editor"], "tid": "acme" }))
        .await
        .unwrap();
    assert_eq!(
        (
            user.permissions.len(),
            user.roles.len(),
            &user.metadata["tenant"]
        ),
        (2, 1, &json!("acme"))
    );
}

/// They identify the user of a client, and do not say what the client may do here.
#[tokio::test]
async fn id_tokens_and_bound_tokens_are_refused() {
    let case = case(|config| config.client_id = Some(API.to_owned())).await;
    case.user(json!({ "scope": "openid" })).await.unwrap();
    for bad in [
        json!({}),
        json!({ "scope": "openid", "nonce": "n" }),
        json!({ "scope": "openid", "at_hash": "h" }),
        json!({ "scope": "openid", "c_hash": "h" }),
        json!({ "scope": "openid", "events": {} }),
        json!({ "scope": "openid", "cnf": { "jkt": "x" } }),
        json!({ "scope": "openid", "cnf": null, "token_use": 7 }),
    ] {
        assert_eq!(case.user(bad.clone()).await, invalid(), "{bad}");
    }
    let claims = case.issuer.claims(json!({}));
    for (typ, is_good) in [
        ("at+jwt", true),
        ("application/at+jwt", true),
        ("JWT", false),
        ("logout+jwt", false),
    ] {
        let token = case
            .key
            .sign_with(&json!({ "alg": "EdDSA", "typ": typ, "kid": "a" }), &claims);
        assert_eq!(user(&case.app, &token).await.is_ok(), is_good, "{typ}");
    }
}
