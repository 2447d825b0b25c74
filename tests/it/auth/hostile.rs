//! Tokens of attackers (RFC 8725, RFC 7515), each beside a good one of its family.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use svc::auth::{SignedTokenProvider, TokenAlgorithm, VerifyingKey};
use svc_tests::App;

use super::service::{options, posting, provider};
use super::token::{SECRET, USER, claims, now, signed};

/// A token that nobody may take, and its name.
type Hostile = (String, String);

fn encoded(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

/// The service that takes HS256 from one issuer for one audience.
pub(super) async fn symmetric() -> App {
    App::serve(options().auth_provider(provider().issuer("https://id.example").audience("shop")))
        .await
}

pub(super) fn payload(more: Value) -> String {
    let mut all = json!({ "iss": "https://id.example", "aud": "shop" });
    all.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    claims(all).to_string()
}

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

fn good() -> String {
    signed(HEADER, &payload(json!({})), SECRET)
}

/// Sends a good token, then each hostile one, and the good one again.
pub(super) async fn refuse(app: &App, good: &str, hostile: Vec<Hostile>) -> usize {
    let ask = async |token: &str| {
        app.send(posting(app, "{ me }").header("authorization", format!("Bearer {token}")))
            .await
    };
    let count = hostile.len();
    assert_eq!(ask(good).await.data()["me"]["user_id"], USER, "the control");
    for (name, token) in hostile {
        let reply = ask(&token).await;
        let json = reply.json();
        assert_eq!(reply.code(), "UNAUTHENTICATED", "{name}");
        assert_eq!(
            (&json["data"], json["errors"].as_array().unwrap().len()),
            (&Value::Null, 1),
            "{name}"
        );
        assert!(
            !reply.text.contains(USER) && reply.headers.contains_key("www-authenticate"),
            "{name}"
        );
    }
    assert_eq!(ask(good).await.data()["me"]["user_id"], USER, "the control");
    count
}

#[tokio::test]
async fn tokens_of_other_algorithms_than_the_key_are_refused() {
    let names = [
        "none",
        "None",
        "NONE",
        "nOnE",
        "",
        "hs256",
        "HS256 ",
        " HS256",
        "HS256\u{0}",
        "HS384",
        "HS512",
        "RS256",
        "PS256",
        "ES256",
        "ES256K",
        "EdDSA",
        "Ed25519",
        "dir",
        "A128KW",
        "RSA1_5",
        "HS1",
        "HS256,none",
    ];
    let mut hostile: Vec<Hostile> = names
        .iter()
        .flat_map(|name| {
            let header = json!({ "alg": name }).to_string();
            let empty = format!("{}.{}.", encoded(&header), encoded(payload(json!({}))));
            [
                (
                    format!("alg {name:?}"),
                    signed(&header, &payload(json!({})), SECRET),
                ),
                (format!("alg {name:?} without a signature"), empty),
            ]
        })
        .collect();
    for alg in ["null", "7", "[]", r#"["HS256"]"#, "{}", "true"] {
        let header = format!(r#"{{"alg":{alg}}}"#);
        hostile.push((header.clone(), signed(&header, &payload(json!({})), SECRET)));
    }
    for header in [
        "{}",
        r#"{"typ":"JWT"}"#,
        r#"{"Alg":"HS256"}"#,
        r#"{"alg":"none","alg":"HS256"}"#,
    ] {
        hostile.push((
            header.to_owned(),
            signed(header, &payload(json!({})), SECRET),
        ));
    }
    assert_eq!(refuse(&symmetric().await, &good(), hostile).await, 54);
}

/// The service that takes EdDSA by a public key, the key, and the key as PEM.
async fn asymmetric() -> (App, Ed25519KeyPair, String) {
    let pair = Ed25519KeyPair::from_pkcs8(
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .unwrap()
            .as_ref(),
    )
    .unwrap();
    // RFC 8410, section 4.
    let prefix = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ];
    let der = [&prefix[..], pair.public_key().as_ref()].concat();
    let pem = format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        STANDARD.encode(der)
    );
    let key = VerifyingKey::from_pem(TokenAlgorithm::EdDsa, &pem).unwrap();
    (
        App::serve(options().auth_provider(SignedTokenProvider::new(key))).await,
        pair,
        pem,
    )
}

fn by(pair: &Ed25519KeyPair, header: &Value) -> String {
    let signed = format!(
        "{}.{}",
        encoded(header.to_string()),
        encoded(payload(json!({})))
    );
    format!("{signed}.{}", encoded(pair.sign(signed.as_bytes())))
}

/// RFC 8725, sections 2.1 and 3.1.
#[tokio::test]
async fn a_public_key_is_not_accepted_as_an_hmac_secret() {
    let (app, pair, pem) = asymmetric().await;
    let der = STANDARD.decode(pem.lines().nth(1).unwrap()).unwrap();
    let raw = pair.public_key().as_ref().to_vec();
    let mut hostile = Vec::new();
    for (name, secret) in [
        ("PEM", pem.clone().into_bytes()),
        (
            "PEM without its last line end",
            pem.trim_end().as_bytes().to_vec(),
        ),
        (
            "PEM with line ends of Windows",
            pem.replace('\n', "\r\n").into_bytes(),
        ),
        ("DER", der),
        ("the bytes", raw.clone()),
        ("base64url", encoded(&raw).into_bytes()),
        ("nothing", Vec::new()),
    ] {
        for alg in ["HS256", "EdDSA"] {
            let header = json!({ "alg": alg }).to_string();
            hostile.push((
                format!("{name} as the secret of {alg}"),
                signed(&header, &payload(json!({})), &secret),
            ));
        }
        let key = hmac::Key::new(hmac::HMAC_SHA512, &secret);
        let text = format!(
            "{}.{}",
            encoded(r#"{"alg":"HS512"}"#),
            encoded(payload(json!({})))
        );
        hostile.push((
            format!("{name} for HS512"),
            format!("{text}.{}", encoded(hmac::sign(&key, text.as_bytes()))),
        ));
    }
    let good = by(&pair, &json!({ "alg": "EdDSA" }));
    hostile.push(("none".to_owned(), by(&pair, &json!({ "alg": "none" }))));
    hostile.push(("ES256".to_owned(), by(&pair, &json!({ "alg": "ES256" }))));
    assert_eq!(refuse(&app, &good, hostile).await, 23);
}

/// Keys that a token contains, or whose location it names.
#[tokio::test]
async fn keys_in_the_header_of_a_token_are_not_trusted() {
    let (app, pair, _) = asymmetric().await;
    let own = Ed25519KeyPair::from_pkcs8(
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .unwrap()
            .as_ref(),
    )
    .unwrap();
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(own.public_key()), "kid": "own", "alg": "EdDSA" });
    let certificate = STANDARD.encode(own.public_key());
    let injected = [
        json!({ "jwk": jwk }),
        json!({ "jwk": jwk, "kid": "own" }),
        json!({ "jwk": jwk.to_string() }),
        json!({ "jku": "https://evil.example/jwks.json", "kid": "own" }),
        json!({ "jku": "http://127.0.0.1:1/jwks.json" }),
        json!({ "jku": "file:///etc/passwd" }),
        json!({ "x5u": "https://evil.example/key.pem" }),
        json!({ "x5c": [certificate] }),
        json!({ "x5t": encoded("thumbprint"), "x5t#S256": encoded("thumbprint") }),
        json!({ "kid": "own" }),
    ];
    let hostile = injected.iter().map(|more| {
        let mut header = json!({ "alg": "EdDSA" });
        header
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        (more.to_string(), by(&own, &header))
    });
    // They are not looked at in a token of the right key either.
    let good = by(
        &pair,
        &json!({ "alg": "EdDSA", "jku": "http://127.0.0.1:1/", "kid": "../../dev/null" }),
    );
    assert_eq!(refuse(&app, &good, hostile.collect()).await, 10);

    let kids = [
        "../../../../dev/null",
        "/dev/null",
        "' UNION SELECT 'secret' -- ",
        "x; cat /etc/passwd",
        "|/bin/true",
        "",
        "\u{0}",
        "http://127.0.0.1:1/",
    ];
    let hostile = kids.iter().flat_map(|kid| {
        let header = json!({ "alg": "HS256", "kid": kid }).to_string();
        [&b""[..], b"secret", b"\0"].map(|secret| {
            (
                format!("kid {kid:?}"),
                signed(&header, &payload(json!({})), secret),
            )
        })
    });
    assert_eq!(
        refuse(&symmetric().await, &good_with_kid(), hostile.collect()).await,
        24
    );
}

fn good_with_kid() -> String {
    signed(
        r#"{"alg":"HS256","kid":"/dev/null"}"#,
        &payload(json!({})),
        SECRET,
    )
}

/// The header requires an extension, has a wrong type, or is not a header.
#[tokio::test]
async fn tokens_with_unsupported_headers_are_refused() {
    let headers = [
        r#"{"alg":"HS256","crit":["exp"]}"#,
        r#"{"alg":"HS256","crit":[]}"#,
        r#"{"alg":"HS256","crit":["b64"],"b64":true}"#,
        r#"{"alg":"HS256","b64":false}"#,
        r#"{"alg":"HS256","zip":"DEF"}"#,
        r#"{"alg":"HS256","enc":"A128GCM"}"#,
        r#"{"alg":"HS256","typ":"dpop+jwt"}"#,
        r#"{"alg":"HS256","typ":"logout+jwt"}"#,
        r#"{"alg":"HS256","typ":"secevent+jwt"}"#,
        r#"{"alg":"HS256","typ":"JOSE+JSON"}"#,
        r#"{"alg":"HS256","typ":7}"#,
        r#"{"alg":"HS256","typ":null}"#,
        r#"{"alg":"HS256","kid":7}"#,
        r#"{"alg":"HS256","kid":{}}"#,
        r#"["alg","HS256"]"#,
        r#""HS256""#,
        "null",
        "",
        "alg=HS256",
        r#"{"alg":"HS256"}{"alg":"none"}"#,
        r#"{"alg":"HS256",}"#,
        "{'alg':'HS256'}",
        "\u{feff}{\"alg\":\"HS256\"}",
        "{\"alg\":\"HS256\"}\u{0}",
    ];
    let hostile = headers.map(|header| {
        (
            header.to_owned(),
            signed(header, &payload(json!({})), SECRET),
        )
    });
    assert_eq!(
        refuse(&symmetric().await, &good(), hostile.into()).await,
        24
    );
}

/// Parts that are missing, too many, or encoded differently.
#[tokio::test]
async fn malformed_tokens_are_refused() {
    let good = good();
    let [header, body, signature]: [&str; 3] =
        good.split('.').collect::<Vec<_>>().try_into().unwrap();
    let other = signed(HEADER, &payload(json!({ "roles": ["admin"] })), SECRET);
    let swapped = other.split('.').nth(1).unwrap();
    let padded = |text: &str| URL_SAFE.encode(URL_SAFE_NO_PAD.decode(text).unwrap());
    let last = signature.chars().last().unwrap();
    // 32 bytes are 43 characters, of which the last has two bits that must be zero.
    let loose = char::from_u32(u32::from(last) + 1)
        .filter(char::is_ascii_alphanumeric)
        .unwrap_or('B');
    let mut flipped = URL_SAFE_NO_PAD.decode(signature).unwrap();
    flipped[31] ^= 1;
    let standard = STANDARD.encode(URL_SAFE_NO_PAD.decode(signature).unwrap());
    let hostile = [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        "....".to_owned(),
        header.to_owned(),
        format!("{header}.{body}"),
        format!("{header}.{body}."),
        format!("{header}..{signature}"),
        format!(".{body}.{signature}"),
        format!("{good}."),
        format!(".{good}"),
        format!("{good}.{signature}"),
        format!("{header}.{body}.{signature}.{body}.{signature}"),
        format!("{header}.{swapped}.{signature}"),
        format!("{header}.{body}.{}", &signature[..signature.len() - 1]),
        format!("{header}.{body}.{}", &signature[..20]),
        format!("{header}.{body}.{signature}A"),
        format!("{header}.{body}.{signature}AAAA"),
        format!(
            "{header}.{body}.{}{loose}",
            &signature[..signature.len() - 1]
        ),
        format!("{header}.{body}.{}", encoded(flipped)),
        format!("{header}.{body}.{}", encoded([0; 32])),
        format!("{header}.{body}.{standard}"),
        format!("{}.{body}.{signature}", padded(header) + "="),
        format!("{header}.{body}.{}", padded(signature)),
        format!("{header}.{body}=.{signature}"),
        format!("{header} .{body}.{signature}"),
        format!("{header}.{body}.{signature} "),
        format!("\"{good}\""),
        format!("{good},{good}"),
        format!("{good} {good}"),
        good.to_uppercase(),
        good.to_lowercase(),
        format!("%20{good}"),
        format!("{{\"payload\":\"{body}\",\"signatures\":[]}}"),
        format!("{good}{}", "A".repeat(8_192)),
    ];
    // What HTTP strips from the end of a value is not part of it.
    let hostile = hostile
        .into_iter()
        .filter(|token| token.trim_end() == token);
    let hostile = hostile
        .map(|token| (format!("{token:.60}"), token))
        .collect::<Vec<_>>();
    assert_eq!(refuse(&symmetric().await, &good, hostile).await, 35);
}

/// Claims that are missing, or have other types or values; each token has the right signature.
#[tokio::test]
async fn tokens_with_invalid_claims_are_refused() {
    let id = "11111111-2222-4333-8444-555555555555";
    let claims = [
        json!({ "exp": null }),
        json!({ "exp": "9999999999" }),
        json!({ "exp": true }),
        json!({ "exp": [9_999_999_999_i64] }),
        json!({ "exp": {} }),
        json!({ "exp": -1 }),
        json!({ "exp": 0 }),
        json!({ "exp": now() - 1 }),
        json!({ "exp": now() }),
        json!({ "nbf": now() + 60 }),
        json!({ "nbf": "0" }),
        json!({ "nbf": [] }),
        json!({ "iat": now() + 3_600 }),
        json!({ "iat": "now" }),
        json!({ "iss": null }),
        json!({ "iss": "https://id.example/" }),
        json!({ "iss": "https://id.example.evil.example" }),
        json!({ "iss": ["https://id.example"] }),
        json!({ "aud": null }),
        json!({ "aud": "Shop" }),
        json!({ "aud": "shop " }),
        json!({ "aud": [] }),
        json!({ "aud": ["bank"] }),
        json!({ "aud": ["shop", 7] }),
        json!({ "aud": { "shop": true } }),
        json!({ "sub": null }),
        json!({ "sub": "" }),
        json!({ "sub": "admin" }),
        json!({ "sub": 7 }),
        json!({ "sub": [USER] }),
        json!({ "sub": "admin", "user_id": id }),
        json!({ "roles": "admin" }),
        json!({ "roles": [["admin"]] }),
        json!({ "permissions": { "all": true } }),
        json!({ "email": 7 }),
        json!({ "name": ["Ada"] }),
        json!({ "cnf": { "jkt": "x" } }),
    ];
    let hostile = claims.map(|more| (more.to_string(), signed(HEADER, &payload(more), SECRET)));
    assert_eq!(
        refuse(&symmetric().await, &good(), hostile.into()).await,
        37
    );
}

/// Claims that are not one JSON object, or have a duplicate name.
#[tokio::test]
async fn claims_must_be_one_json_object() {
    let id = "11111111-2222-4333-8444-555555555555";
    let mut hostile = Vec::new();
    let whole = payload(json!({}));
    for twice in [
        format!(r#""sub":"{id}""#),
        r#""exp":9999999999"#.to_owned(),
        r#""roles":[],"roles":["admin"]"#.to_owned(),
    ] {
        hostile.push((
            format!("{twice} twice"),
            signed(HEADER, &format!("{{{twice},{}", &whole[1..]), SECRET),
        ));
    }
    for payload in [
        "",
        "null",
        "7",
        "\"x\"",
        "[]",
        "{}",
        &whole[1..],
        &format!("{whole}{whole}"),
        &format!("[{whole}]"),
    ] {
        hostile.push((format!("{payload:.40}"), signed(HEADER, payload, SECRET)));
    }
    for exp in ["1e400", "NaN", "Infinity", "0x7fffffff"] {
        let payload =
            payload(json!({ "exp": null })).replacen('{', &format!("{{\"exp\":{exp},"), 1);
        hostile.push((exp.to_owned(), signed(HEADER, &payload, SECRET)));
    }
    let deep = whole.replacen(
        '{',
        &format!("{{\"x\":{}{},", "[".repeat(2_000), "]".repeat(2_000)),
        1,
    );
    hostile.push(("deep".to_owned(), signed(HEADER, &deep, SECRET)));
    hostile.push((
        "another secret".to_owned(),
        signed(
            HEADER,
            &whole,
            b"a secret of the tests, of more than 31 bytes",
        ),
    ));
    assert_eq!(refuse(&symmetric().await, &good(), hostile).await, 18);
}
