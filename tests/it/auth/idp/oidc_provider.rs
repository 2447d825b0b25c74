//! Tokens of an OpenID provider that nobody here wrote.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use svc::auth::{AuthProvider as _, IntrospectionProvider};
use svc::{IdpConfig, TokenAlgorithm};
use svc_tests::{App, node, node_stderr};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::super::service::options;
use super::issuer::{API, invalid, serve, user};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The provider in a process of its own, behind a certificate that was made for it.
struct OidcProvider {
    /// Ends with the test.
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    issuer: String,
    /// Holds the certificate.
    folder: tempfile::TempDir,
}

impl OidcProvider {
    async fn start() -> Self {
        let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (
            folder.path().join("certificate.pem"),
            folder.path().join("key.pem"),
        );
        std::fs::write(&certificate, certified.cert.pem()).unwrap();
        std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
        let mut command = Command::from(node("oidc.mjs"));
        command
            .args([&certificate, &key])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(node_stderr())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut output = BufReader::new(output).lines();
        let line: Value = serde_json::from_str(&next_line(&mut output).await).unwrap();
        let issuer = line["issuer"].as_str().unwrap().to_owned();
        Self {
            _child: child,
            input,
            output,
            issuer,
            folder,
        }
    }

    fn config(&self) -> IdpConfig {
        IdpConfig {
            issuer: Some(self.issuer.clone()),
            api_identifier: Some(API.to_owned()),
            root_certificates: Some(self.folder.path().join("certificate.pem")),
            ..IdpConfig::default()
        }
    }

    /// An access token of the client, for an audience.
    async fn token(&mut self, audience: &str) -> String {
        let form = json!({ "grant_type": "client_credentials", "scope": "posts:read", "resource": audience });
        self.ask("/token", &form).await["access_token"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// An ID token of a user who has logged in to the client.
    async fn id_token(&mut self) -> String {
        let asked = self
            .ask(
                "/backchannel",
                &json!({ "scope": "openid", "login_hint": "ada" }),
            )
            .await;
        let form = json!({ "grant_type": "urn:openid:params:grant-type:ciba", "auth_req_id": asked["auth_req_id"] });
        self.ask("/token", &form).await["id_token"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    async fn ask(&mut self, path: &str, form: &Value) -> Value {
        let line = format!("{}\n", json!({ "path": path, "form": form }));
        self.input.write_all(line.as_bytes()).await.unwrap();
        serde_json::from_str(&next_line(&mut self.output).await).unwrap()
    }
}

/// The next line of the script, which comes soon.
async fn next_line(output: &mut Lines<BufReader<ChildStdout>>) -> String {
    timeout(PATIENCE, output.next_line())
        .await
        .expect("the provider does not answer")
        .unwrap()
        .expect("the provider has ended")
}

#[tokio::test]
async fn access_tokens_identify_the_user() {
    let mut oidc = OidcProvider::start().await;
    let app = serve(oidc.config().create_provider().unwrap()).await;
    let user = user(&app, &oidc.token(API).await).await.unwrap();
    assert_eq!(user.user_id, "shop");
    assert_eq!(
        (user.roles, user.permissions),
        (vec!["editor".to_owned()], vec!["posts:read".to_owned()])
    );
    assert_eq!(user.metadata["tenant"], "acme");
}

#[tokio::test]
async fn tokens_of_other_algorithms_are_accepted_only_if_allowed() {
    let mut oidc = OidcProvider::start().await;
    for (audience, algorithm) in [
        ("https://es.example", TokenAlgorithm::Es256),
        ("https://eddsa.example", TokenAlgorithm::EdDsa),
        ("https://ps.example", TokenAlgorithm::Ps256),
    ] {
        let token = oidc.token(audience).await;
        let api_identifier = Some(audience.to_owned());
        let strict = IdpConfig {
            api_identifier,
            ..oidc.config()
        };
        assert_eq!(
            user(&serve(strict.create_provider().unwrap()).await, &token).await,
            invalid()
        );
        let wide = IdpConfig {
            algorithms: vec![TokenAlgorithm::Rs256, algorithm],
            ..strict
        };
        assert_eq!(
            user(&serve(wide.create_provider().unwrap()).await, &token)
                .await
                .unwrap()
                .user_id,
            "shop"
        );
    }
}

#[tokio::test]
async fn foreign_and_altered_tokens_are_refused() {
    let mut oidc = OidcProvider::start().await;
    let app = serve(oidc.config().create_provider().unwrap()).await;
    let good = oidc.token(API).await;
    user(&app, &good).await.unwrap();
    assert_eq!(
        user(&app, &oidc.token("https://other.example").await).await,
        invalid()
    );
    assert_eq!(
        user(&app, &oidc.token("https://opaque.example").await).await,
        invalid()
    );
    let (head, signature) = good.rsplit_once('.').unwrap();
    let altered = if signature.starts_with('A') { "B" } else { "A" };
    assert_eq!(
        user(&app, &format!("{head}.{altered}{}", &signature[1..])).await,
        invalid()
    );
    let mut other = OidcProvider::start().await;
    assert_eq!(user(&app, &other.token(API).await).await, invalid());
}

/// Also by a service whose audience is the client, the only audience of such a token.
#[tokio::test]
async fn id_tokens_are_refused() {
    let mut oidc = OidcProvider::start().await;
    let (access, id) = (oidc.token(API).await, oidc.id_token().await);
    let api = oidc.config();
    let audience = IdpConfig {
        api_identifier: Some("shop".to_owned()),
        ..oidc.config()
    };
    let client = IdpConfig {
        client_id: audience.api_identifier.clone(),
        ..audience.clone()
    };
    let of_client = IdpConfig {
        audience_claim: "/client_id".to_owned(),
        ..audience.clone()
    };
    for (config, takes, why) in [
        (&api, true, "its audience is not the one that is configured"),
        (&audience, false, "nothing tells it from an ID token"),
        (&client, false, "nothing tells it from an ID token"),
        (
            &of_client,
            true,
            "its audience is not the one that is configured",
        ),
    ] {
        let provider = config.create_provider().unwrap();
        let error = provider.validate_token(&id).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        let app = serve(provider).await;
        assert_eq!(user(&app, &id).await, invalid());
        assert_eq!(user(&app, &access).await.is_ok(), takes, "the control");
    }
}

/// The public authorities have not signed the certificate.
#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_not_trusted() {
    let mut oidc = OidcProvider::start().await;
    let config = IdpConfig {
        root_certificates: None,
        ..oidc.config()
    };
    let app = serve(config.create_provider().unwrap()).await;
    assert_eq!(
        user(&app, &oidc.token(API).await).await,
        Err("SERVICE_UNAVAILABLE".to_owned())
    );
}

#[tokio::test]
async fn opaque_tokens_are_accepted_until_they_are_revoked() {
    let mut oidc = OidcProvider::start().await;
    let pem = std::fs::read_to_string(oidc.folder.path().join("certificate.pem")).unwrap();
    let endpoint = format!("{}/token/introspection", oidc.issuer);
    let provider = IntrospectionProvider::new(&endpoint, "shop", "a secret of the tests").unwrap();
    let provider = provider
        .root_certificates(&pem)
        .unwrap()
        .required_scope("posts:read");
    let provider = provider
        .audience("https://opaque.example")
        .keep_for(std::time::Duration::ZERO);
    let app = App::serve(options().auth_provider(provider)).await;
    let token = oidc.token("https://opaque.example").await;
    assert_eq!(
        user(&app, &token).await.unwrap().permissions,
        ["posts:read"]
    );
    oidc.ask("/token/revocation", &json!({ "token": token }))
        .await;
    assert_eq!(user(&app, &token).await, invalid());
}
