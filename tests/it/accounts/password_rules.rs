//! The rules for new passwords (NIST SP 800-63B-4, section 3.1.1.2; OWASP ASVS 5.0, section 6.2).

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::SvcConfig;
use svc::accounts::{AttemptLimits, BreachedPasswords, NativeAuthFactory, PasswordRules};
use svc_tests::{App, Log, Reply};

use super::by_settings;
use super::client::{PASSWORD, assert_accepted, login, post, register, with};
use super::service::{database, serve, serve_with};

/// A password that [`Leaked`] contains.
pub(super) const LEAKED: &str = "may the force be with you";
/// The passwords for which the look-up fails, and does not end.
const FAILING: &str = "a look-up that fails";
const SLOW: &str = "a look-up without an end";

/// A list of breached passwords, which counts the look-ups.
#[derive(Clone, Default)]
pub(super) struct Leaked(Arc<AtomicUsize>);

impl Leaked {
    fn look_ups(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl BreachedPasswords for Leaked {
    async fn contains(&self, password: &str) -> Result<bool, Box<dyn Error + Send + Sync>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        match password {
            FAILING => Err("the list is away".into()),
            SLOW => std::future::pending().await,
            other => Ok(other == LEAKED),
        }
    }
}

/// A factory with the list, which waits for it for a short time.
fn impatient(factory: NativeAuthFactory, allow_unchecked: bool) -> NativeAuthFactory {
    let mut rules = PasswordRules::default();
    rules.breached_timeout = Duration::from_millis(50);
    rules.allow_unchecked = allow_unchecked;
    factory
        .password_rules(rules)
        .breached_passwords(Leaked::default())
}

async fn register_with(app: &App, name: &str, password: &str) -> Reply {
    let email = format!("{name}@example.com");
    let body = json!({ "username": name, "password": password, "email": email });
    post(app, "/auth/register", body).await
}

/// Each password violates its rule, and the message says how to mend it.
async fn assert_weak(app: &App, name: &str, weak: &[(&str, &str)]) {
    for (password, rule) in weak {
        let reply = register_with(app, name, password).await;
        let body = reply.json();
        assert_eq!(
            (reply.status, &body["error"], &body["rule"]),
            (422, &json!("weak_password"), &json!(rule)),
            "{password}: {}",
            reply.text
        );
        assert!(body["message"].as_str().unwrap().contains("; "), "{body}");
    }
}

#[tokio::test]
async fn a_password_needs_length_and_no_class_of_characters() {
    let service = serve().await;
    let code_points = "🔑🏠🌳🎈🎉🎸🚀🍕".repeat(8);
    assert_eq!(code_points.chars().count(), 64);
    for (index, password) in [
        "correct horse battery staple lamp",
        "eight ch",
        "lamplamplamp",
        "1984 and 2001",
        &code_points,
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("user{index}");
        let made = register_with(&service.app, &name, password).await;
        assert_eq!(made.status, 201, "{password}: {}", made.text);
        assert_eq!(login(&service.app, &name, password).await.status, 200);
    }

    // Eight code points that normalization composes to four.
    let composed = "e\u{301}a\u{301}o\u{301}u\u{301}";
    let short = [("eight c", "min_length"), (composed, "min_length")];
    assert_weak(&service.app, "eve", &short).await;
}

#[tokio::test]
async fn common_passwords_are_refused_despite_their_decoration() {
    let service = serve().await;
    for weak in [
        ("Password1!", "common"),
        ("Qwerty123!", "common"),
        ("P@ssw0rd", "common"),
        ("p-a-s-s-w-o-r-d 99", "common"),
        ("Summer2024!", "common"),
        ("jennifer1980", "common"),
        ("PasswordPassword9", "common"),
        ("zzzzzzzzzzzzzzzzz", "repeated"),
        ("!?!?!?!?!?!?!?", "repeated"),
    ] {
        assert_weak(&service.app, "eve", &[weak]).await;
    }
}

#[tokio::test]
async fn own_names_are_refused_despite_their_decoration() {
    let service = serve().await;
    let own = [
        ("Ada Lovelace 1815!", "own_name"),
        ("adalovelace-adalovelace", "own_name"),
        ("ADA.LOVELACE@example.com", "own_name"),
    ];
    assert_weak(&service.app, "ada.lovelace", &own).await;
    let made = register_with(&service.app, "ada.lovelace", "ada lovelace likes lamps").await;
    assert_eq!(made.status, 201, "{}", made.text);
}

/// Letters may become several in lower case, and compose to fewer.
#[tokio::test]
async fn unusual_passwords_never_cause_a_server_error() {
    let service = serve().await;
    for (index, password) in [
        "!".repeat(1_024),
        format!("{}b", "a".repeat(1_023)),
        "\u{130}".repeat(512),
        "\u{fdfa}".repeat(341),
        "a\u{300}".repeat(341),
        "\u{300}".repeat(512),
        "🔑".repeat(256),
    ]
    .into_iter()
    .enumerate()
    {
        let made = register_with(&service.app, &format!("user{index}"), &password).await;
        assert!(
            [201, 422].contains(&made.status),
            "{index}: {} {}",
            made.status,
            made.text
        );
    }
}

#[tokio::test]
async fn words_of_the_service_are_refused() {
    let service = serve_with(|factory| factory.context_words(["Acme Shop", "contoso", ""])).await;
    let words = [
        ("acme-shop-2024!", "context_word"),
        ("ContosoContoso1", "context_word"),
    ];
    assert_weak(&service.app, "ada", &words).await;
    let made = register_with(&service.app, "ada", "contoso sells lamps").await;
    assert_eq!(made.status, 201, "{}", made.text);
}

#[tokio::test]
async fn the_minimum_length_and_words_are_settings() {
    let database = database().await;
    let settings = [
        ("SVC_ACCOUNTS_PASSWORD_MIN_LENGTH", "15"),
        ("SVC_ACCOUNTS_CONTEXT_WORDS", "Acme Lighting, contoso"),
        ("SVC_SERVICE_NAME", "Lamp Seller"),
    ];
    let app = by_settings::serve(&database, &settings).await;
    let weak = [
        ("fourteen chars", "min_length"),
        ("lamp-seller-2024", "context_word"),
        ("acme lighting 99", "context_word"),
        ("contosocontosocontoso", "context_word"),
    ];
    assert_weak(&app, "ada", &weak).await;
    let short = register_with(&app, "ada", "fourteen chars").await;
    assert!(
        short.text.contains("at least 15 characters"),
        "{}",
        short.text
    );
    register(&app, "ada").await;

    for value in ["7", "65", "many"] {
        let name = "SVC_ACCOUNTS_PASSWORD_MIN_LENGTH";
        let get = |asked: &str| (asked == name).then(|| value.to_owned());
        let error = SvcConfig::from_variables(get).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("{name} is {value:?}; it must be a number of characters from 8 to 64")
        );
    }
}

/// Other rules, and the current password, are checked first.
#[tokio::test]
async fn a_breached_password_is_refused() {
    let leaked = Leaked::default();
    let list = leaked.clone();
    let service = serve_with(|factory| factory.breached_passwords(list)).await;
    let app = &service.app;
    let held = register(app, "ada").await;
    assert_weak(app, "eve", &[(LEAKED, "breached")]).await;
    let change = async |current: &str| {
        let body = json!({ "current_password": current, "new_password": LEAKED });
        with(app, &held.access, "POST", "/auth/password", body).await
    };
    let refused = change(PASSWORD).await;
    assert_eq!(
        (refused.status, &refused.json()["rule"]),
        (422, &json!("breached")),
        "{}",
        refused.text
    );
    assert_accepted(app, &held).await;
    assert_eq!(leaked.look_ups(), 3);

    assert_weak(app, "eve", &[("Password1!", "common")]).await;
    assert_eq!(change("Wrong-horse-7").await.status, 401);
    assert_eq!(leaked.look_ups(), 3);
}

#[tokio::test]
async fn new_passwords_are_refused_while_breached_ones_cannot_be_looked_up() {
    let log = Log::start();
    let service = serve_with(|factory| impatient(factory, false)).await;
    for (name, password, cause) in [
        ("ada", FAILING, "the list is away"),
        ("eve", SLOW, "it took too long"),
    ] {
        let refused = register_with(&service.app, name, password).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (503, &json!("service_unavailable")),
            "{}",
            refused.text
        );
        log.has(cause).await;
        assert_eq!(login(&service.app, name, password).await.status, 401);
    }
    register(&service.app, "ada").await;
}

#[tokio::test]
async fn new_passwords_can_be_accepted_while_breached_ones_cannot_be_looked_up() {
    let log = Log::start();
    let service = serve_with(|factory| impatient(factory, true)).await;
    for (name, password, cause) in [
        ("ada", FAILING, "the list is away"),
        ("eve", SLOW, "it took too long"),
    ] {
        let made = register_with(&service.app, name, password).await;
        assert_eq!(made.status, 201, "{}", made.text);
        log.has(cause).await;
    }
    log.has("a new password was accepted without a look-up among breached ones")
        .await;
    assert_weak(&service.app, "bob", &[(LEAKED, "breached")]).await;
}

/// Each of them costs a look-up.
#[tokio::test]
async fn breached_passwords_count_as_failed_attempts() {
    let leaked = Leaked::default();
    let list = leaked.clone();
    let mut limits = AttemptLimits::default();
    limits.per_address = 3;
    let service =
        serve_with(|factory| factory.attempt_limits(limits).breached_passwords(list)).await;
    for status in [422, 422, 422, 429] {
        let refused = register_with(&service.app, "eve", LEAKED).await;
        assert_eq!(refused.status, status, "{}", refused.text);
    }
    assert_eq!(leaked.look_ups(), 3);
}
