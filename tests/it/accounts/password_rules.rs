//! The rules for new passwords (NIST SP 800-63B-4, section 3.1.1.2; OWASP ASVS 5.0, section 6.2).

use serde_json::json;
use svc_tests::{App, Reply};

use super::client::{login, post};
use super::service::serve;

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
