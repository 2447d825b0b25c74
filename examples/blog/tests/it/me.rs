//! The query for users with a token, where the settings name a provider.

use serde_json::{Value, json};
use svc::auth::{SigningKey, TokenAlgorithm};
use svc_tests::TestDatabase;

use super::{Blog, command};

const SECRET: &str = "a secret of the tests, of more than 32 bytes";
const USER: &str = "6f9619ff-8b86-4011-b42d-00c04fc964ff";

fn token(audience: &str) -> String {
    let claims = json!({
        "sub": USER, "iss": "https://id.example", "aud": audience, "exp": 4_102_444_800_u64, "email": "ada@example.com",
        "name": "Ada", "roles": ["editor"], "permissions": ["posts:write"],
    });
    let key = SigningKey::new(TokenAlgorithm::Hs256, SECRET.as_bytes()).unwrap();
    key.sign(claims.as_object().unwrap())
}

async fn ask(blog: &Blog, token: Option<&str>, query: &str) -> Value {
    let request = svc_tests::client()
        .post(&blog.url)
        .header("content-type", "application/json");
    let request = token
        .into_iter()
        .fold(request, reqwest::RequestBuilder::bearer_auth);
    let answer = request
        .body(json!({ "query": query }).to_string())
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();

    serde_json::from_str(&answer).unwrap()
}

const ME: &str = "{ me { userId email name roles permissions } }";

#[tokio::test]
async fn a_token_identifies_the_user() {
    let (database, folder) = (TestDatabase::new("").await, tempfile::tempdir().unwrap());
    let mut command = command(folder.path());
    command.env("SVC_DATABASE_URL", database.url());
    let authentication = [
        ("SVC_AUTH_PROVIDER", "custom"),
        ("SVC_AUTH_SECRET_KEY", SECRET),
        ("SVC_AUTH_ISSUER", "https://id.example"),
        ("SVC_AUTH_AUDIENCE", "blog"),
    ];

    let blog = Blog::start_with(command.envs(authentication));
    let me = ask(&blog, Some(&token("blog")), ME).await;
    assert_eq!(
        me["data"]["me"],
        json!({
            "userId": USER, "email": "ada@example.com", "name": "Ada", "roles": ["editor"], "permissions": ["posts:write"],
        })
    );

    for token in [None, Some(token("another"))] {
        let refused = ask(&blog, token.as_deref(), ME).await;
        assert_eq!(
            refused["errors"][0]["extensions"]["code"], "UNAUTHENTICATED",
            "{refused}"
        );
        let open = ask(&blog, token.as_deref(), "{ users(limit: 1) { id } }").await;
        assert_eq!(
            open["data"]["users"].as_array().map(Vec::len),
            Some(1),
            "{open}"
        );
    }
}

#[tokio::test]
async fn without_a_provider_the_schema_has_no_me() {
    let (database, folder) = (TestDatabase::new("").await, tempfile::tempdir().unwrap());
    let blog = Blog::start_with(command(folder.path()).env("SVC_DATABASE_URL", database.url()));
    let answer = ask(&blog, Some(&token("blog")), ME).await;

    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED",
        "{answer}"
    );

    assert_eq!(
        ask(&blog, Some("x"), "{ users(limit: 1) { id } }").await["data"]["users"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

/// Nothing but the environment: the routes of accounts are there, and `me` knows who has
/// registered.
#[tokio::test]
async fn accounts_come_by_settings_alone() {
    let (database, folder) = (TestDatabase::new("").await, tempfile::tempdir().unwrap());
    let mut command = command(folder.path());
    command.env("SVC_DATABASE_URL", database.url());
    let blog = Blog::start_with(command.envs([
        ("SVC_AUTH_PROVIDER", "native"),
        ("SVC_AUTH_SECRET_KEY", SECRET),
    ]));
    let ada =
        json!({ "username": "ada", "password": "Correct-horse-7", "email": "ada@example.com" });
    let post = async |path: &str| {
        let url = blog.url.replace("/graphql", path);
        let request = svc_tests::client()
            .post(url)
            .header("content-type", "application/json")
            .body(ada.to_string());
        let answer = request.send().await.unwrap();
        (
            answer.status().as_u16(),
            serde_json::from_str::<Value>(&answer.text().await.unwrap()).unwrap(),
        )
    };

    // Accounts are there when the set-up has run.
    svc_tests::eventually(async || {
        let ready = svc_tests::client()
            .get(blog.url.replace("/graphql", "/ready"))
            .send()
            .await
            .unwrap();
        if ready.status().is_success() {
            Ok(())
        } else {
            Err(ready.text().await.unwrap())
        }
    })
    .await;

    let (status, registered) = post("/auth/register").await;
    assert_eq!(status, 201, "{registered}");
    let (status, tokens) = post("/auth/login").await;
    assert_eq!(status, 200, "{tokens}");
    let me = ask(&blog, tokens["access_token"].as_str(), ME).await;
    let expected = json!({
        "userId": registered["user"]["user_id"], "email": "ada@example.com", "name": "ada", "roles": [], "permissions": [],
    });
    assert_eq!(me["data"]["me"], expected, "{me}");

    assert_eq!(
        ask(&blog, Some(&token("blog")), ME).await["errors"][0]["extensions"]["code"],
        "UNAUTHENTICATED"
    );
}
