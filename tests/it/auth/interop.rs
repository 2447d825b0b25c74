//! Tokens of another implementation: `jsonwebtoken`, with the strictest rules that it has, in the
//! process of the service.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error as SignatureError, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use ring::hmac;
use serde_json::{Value, json};
use svc::auth::{SigningKey, TokenAlgorithm};

use super::hostile::{payload, refuse, symmetric};
use super::service::query;
use super::token::{SECRET, USER, now, signed};

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// HS256 over `ring`: the provider of this process, as a program may install its own.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

struct Hs256(hmac::Key);

impl Hs256 {
    fn new(algorithm: Algorithm, secret: &[u8]) -> Result<Self> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::UnsupportedAlgorithm.into());
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, secret)))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, SignatureError> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(
        &self,
        message: &[u8],
        signature: &Vec<u8>,
    ) -> std::result::Result<(), SignatureError> {
        hmac::verify(&self.0, message, signature).map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?))
}

/// The claims of a token that `jsonwebtoken` accepts.
fn decode(token: &str) -> Result<Value> {
    // Another test may have installed it.
    let _ = PROVIDER.install_default();

    let mut rules = Validation::new(Algorithm::HS256);
    rules.leeway = 0;
    rules.validate_nbf = true;
    rules.set_issuer(&["https://id.example"]);
    rules.set_audience(&["shop"]);
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);

    let key = DecodingKey::from_secret(SECRET);
    jsonwebtoken::decode::<Value>(token, &key, &rules).map(|token| token.claims)
}

#[tokio::test]
async fn tokens_of_jsonwebtoken_are_accepted() {
    let app = symmetric().await;
    let _ = PROVIDER.install_default();

    let claims: Value = serde_json::from_str(&payload(json!({}))).unwrap();
    let header = Header::new(Algorithm::HS256);
    let token = jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(SECRET)).unwrap();

    let reply = query(&app, &token, "{ me }").await;
    assert_eq!(reply.data()["me"]["user_id"], USER);
}

#[test]
fn jsonwebtoken_accepts_tokens_of_svc() {
    let key = SigningKey::new(TokenAlgorithm::Hs256, SECRET).unwrap();
    let claims: Value = serde_json::from_str(&payload(json!({}))).unwrap();

    let token = key.sign(claims.as_object().unwrap());

    assert_eq!(decode(&token).unwrap(), claims);
}

/// The rules that svc has in addition: a test fails when the other implementation has them too.
#[tokio::test]
async fn tokens_that_jsonwebtoken_accepts_are_refused() {
    let headers = [
        r#"{"alg":"HS256","crit":["exp"]}"#,
        r#"{"alg":"HS256","crit":[]}"#,
        r#"{"alg":"HS256","b64":false}"#,
        r#"{"alg":"HS256","zip":"DEF"}"#,
        r#"{"alg":"HS256","enc":"A128GCM"}"#,
        r#"{"alg":"HS256","typ":"logout+jwt"}"#,
        r#"{"alg":"HS256","typ":null}"#,
        r#"{"alg":"HS256","kid":null}"#,
        r#"{"alg":"HS256","x":1,"x":2}"#,
    ];
    let headers = headers.map(|header| {
        let token = signed(header, &payload(json!({})), SECRET);
        (header.to_owned(), token)
    });

    let claims = [
        json!({ "iss": ["https://id.example"] }),
        json!({ "iat": now() + 3_600 }),
        json!({ "iat": "now" }),
        json!({ "cnf": { "jkt": "x" } }),
    ];
    let claims = claims.map(|more| (more.to_string(), signed(HEADER, &payload(more), SECRET)));

    let twice = payload(json!({})).replacen('{', r#"{"roles":[],"roles":["admin"],"#, 1);
    let twice = ("roles twice".to_owned(), signed(HEADER, &twice, SECRET));

    let hostile: Vec<_> = headers.into_iter().chain(claims).chain([twice]).collect();
    for (name, token) in &hostile {
        assert!(decode(token).is_ok(), "{name}: {:?}", decode(token));
    }

    let good = signed(HEADER, &payload(json!({})), SECRET);
    assert_eq!(refuse(&symmetric().await, &good, hostile).await, 14);
}
