//! The cookie: its attributes, its protection, its end.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use svc::sessions::{CookieProtection, SameSite, SessionConfig, SessionLayer};
use svc_tests::{App, eventually};

use super::browser::{Browser, SECRET, config, serve};

const OTHER: &str = "another secret of cookies, as long as that";

async fn serve_config(change: impl FnOnce(&mut SessionConfig)) -> App {
    let mut config = config();
    change(&mut config);
    serve(SessionLayer::new(config).unwrap()).await
}

/// The specification's settings: `secret_key`, `session_cookie`, `max_age`, `same_site`,
/// `https_only`.
#[tokio::test]
async fn the_settings_are_in_the_cookie() {
    let mut browser = Browser::default();
    let app = serve_config(|_| ()).await;
    assert!(
        browser
            .send(&app, "{ value }")
            .await
            .headers
            .get("set-cookie")
            .is_none()
    );
    browser.set(&app, "one").await;
    let header = browser.header.clone().unwrap();
    assert!(header.starts_with("session="), "{header}");
    assert!(
        header.ends_with("; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure"),
        "{header}"
    );
    assert_eq!(browser.value(&app).await, "one");

    let app = serve_config(|config| {
        config.session_cookie = "sid".to_owned();
        config.max_age = std::time::Duration::from_secs(60);
        config.same_site = SameSite::Strict;
        config.https_only = false;
    })
    .await;
    let mut browser = Browser::default();
    let reply = browser.send(&app, "mutation { set(value: \"one\") }").await;
    assert!(
        reply.headers["cache-control"]
            .to_str()
            .unwrap()
            .contains("no-store")
    );
    let header = browser.header.unwrap();
    assert!(
        header.starts_with("sid=")
            && header.ends_with("; Path=/; Max-Age=60; HttpOnly; SameSite=Strict")
    );
}

#[tokio::test]
async fn invalid_settings_are_refused() {
    let refused = |change: fn(&mut SessionConfig)| {
        let mut config = config();
        change(&mut config);
        SessionLayer::new(config).map(drop).unwrap_err().to_string()
    };
    for (change, message) in [
        (
            (|config| config.secret_key = "hunter2".to_owned()) as fn(&mut SessionConfig),
            "at least 32 bytes",
        ),
        (
            |config| config.previous_secret_key = Some("hunter2".to_owned()),
            "previous_secret_key",
        ),
        (
            |config| config.session_cookie = "a b".to_owned(),
            "session_cookie",
        ),
        (
            |config| config.max_age = std::time::Duration::ZERO,
            "max_age",
        ),
        (
            |config| (config.https_only, config.same_site) = (false, SameSite::None),
            "https_only",
        ),
        (
            |config| (config.https_only, config.session_cookie) = (false, "__Host-s".to_owned()),
            "https_only",
        ),
    ] {
        let error = refused(change);
        assert!(
            error.contains(message) && !error.contains("hunter2"),
            "{error}"
        );
    }
    assert!(!format!("{:?}", config()).contains(SECRET));
}

fn content(cookie: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD
        .decode(cookie.split_once('=').unwrap().1)
        .unwrap()
}

fn holds(bytes: &[u8], part: &str) -> bool {
    bytes
        .windows(part.len())
        .any(|window| window == part.as_bytes())
}

/// Encrypted it cannot be read, signed it can; changed it is nothing.
#[tokio::test]
async fn a_cookie_cannot_be_changed() {
    for protection in [CookieProtection::Encrypted, CookieProtection::Signed] {
        let app = serve_config(|config| config.protection = protection).await;
        let mut browser = Browser::default();
        browser.set(&app, "confidential").await;
        let cookie = browser.cookie.clone().unwrap();
        let bytes = content(&cookie);
        assert_eq!(
            holds(&bytes, "confidential"),
            protection == CookieProtection::Signed
        );
        for place in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[place] ^= 1;
            browser.cookie = Some(format!("session={}", URL_SAFE_NO_PAD.encode(&altered)));
            assert_eq!(browser.value(&app).await, Value::Null, "{place}");
        }
        for bad in ["session=", "session=AAAA", "session=%%%", "other=AAAA"] {
            browser.cookie = Some(bad.to_owned());
            assert_eq!(browser.value(&app).await, Value::Null, "{bad}");
        }
        // One of another name, or of a parent domain, does not hide it.
        browser.cookie = Some(format!("session=AAAA; {cookie}"));
        assert_eq!(browser.value(&app).await, "confidential");
    }
    // What was made for one cookie is nothing for another.
    let first = serve_config(|_| ()).await;
    let second = serve_config(|config| config.session_cookie = "admin".to_owned()).await;
    let mut browser = Browser::default();
    browser.set(&first, "one").await;
    browser.cookie = browser
        .cookie
        .map(|cookie| cookie.replacen("session=", "admin=", 1));
    assert_eq!(browser.value(&second).await, Value::Null);
}

#[tokio::test]
async fn a_secret_can_be_replaced() {
    let old = serve_config(|_| ()).await;
    let both = serve_config(|config| {
        config.secret_key = OTHER.to_owned();
        config.previous_secret_key = Some(SECRET.to_owned());
    })
    .await;
    let new = serve_config(|config| config.secret_key = OTHER.to_owned()).await;
    let mut browser = Browser::default();
    browser.set(&old, "kept").await;
    assert_eq!(browser.clone().value(&new).await, Value::Null);
    // Reading it is enough to get one of the new secret.
    assert_eq!(browser.value(&both).await, "kept");
    assert_eq!(browser.value(&new).await, "kept");
    assert_eq!(browser.value(&old).await, Value::Null);
}

#[tokio::test]
async fn a_session_expires_unless_it_is_used() {
    let app = serve_config(|config| config.max_age = std::time::Duration::from_secs(12)).await;
    let mut used = Browser::default();
    used.set(&app, "one").await;
    let mut idle = used.clone();
    idle.header = None;
    // Every use of the one is seen by the service; the other keeps its first cookie.
    let first = idle.cookie.clone();
    eventually(async || {
        assert_eq!(used.value(&app).await, "one");
        idle.cookie.clone_from(&first);
        match idle.value(&app).await {
            Value::Null => Ok(()),
            value => Err(value.to_string()),
        }
    })
    .await;
    assert_eq!(used.value(&app).await, "one");
}

#[tokio::test]
async fn the_size_of_a_session_is_bounded() {
    let app = serve_config(|_| ()).await;
    let mut browser = Browser::default();
    browser.set(&app, &"x".repeat(2_600)).await;
    assert!(browser.cookie.as_ref().unwrap().len() < 4_096);
    let kept = browser.value(&app).await;
    let reply = browser
        .send(
            &app,
            &format!("mutation {{ set(value: \"{}\") }}", "x".repeat(3_000)),
        )
        .await;
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR");
    assert_eq!(browser.value(&app).await, kept);
}

#[tokio::test]
async fn an_empty_session_needs_no_cookie() {
    let app = serve_config(|_| ()).await;
    for end in ["mutation { remove }", "mutation { clear }"] {
        let mut browser = Browser::default();
        browser.set(&app, "one").await;
        browser.send(&app, end).await.data();
        assert_eq!(browser.cookie, None, "{end}");
        assert_eq!(browser.value(&app).await, Value::Null);
    }
}

/// Without the layer the program gets an error.
#[tokio::test]
async fn without_the_layer_there_is_no_session() {
    let app = App::serve(super::browser::options()).await;
    assert_eq!(app.query("{ value }").await.code(), "INTERNAL_SERVER_ERROR");
    assert_eq!(app.query("{ open }").await.data(), json!({ "open": true }));
}
