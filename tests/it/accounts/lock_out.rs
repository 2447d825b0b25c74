//! Strangers who know a name, and guess until nobody may.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use svc::accounts::{AccountMail, AccountMailer, AttemptLimits};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::client::PASSWORD;
use super::service::{Service, serve_with};

const HOME: &str = "192.0.2.1";
const STRANGER: &str = "198.51.100.9";
const WRONG: &str = "Wrong-horse-7";

/// A sender of mails that hands their tokens to the test.
struct Outbox(UnboundedSender<String>);

impl AccountMailer for Outbox {
    async fn send(
        &self,
        mail: AccountMail,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if let AccountMail::ResetPassword { token, .. } = mail {
            self.0.send(token)?;
        }
        Ok(())
    }
}

/// A service whose proxy says the address; three attempts may fail.
async fn serve() -> Service {
    serve_and_mail(unbounded_channel().0).await
}

async fn serve_and_mail(sender: UnboundedSender<String>) -> Service {
    serve_with(|factory| {
        let mut limits = AttemptLimits::default();
        (limits.per_account, limits.per_address, limits.window) =
            (3, 1_000, Duration::from_secs(600));
        factory
            .attempt_limits(limits)
            .mailer(Outbox(sender))
            .client_address(|headers, _| headers.get("x-real-ip")?.to_str().ok()?.parse().ok())
    })
    .await
}

async fn send(service: &Service, address: &str, path: &str, body: serde_json::Value) -> u16 {
    let request = service
        .app
        .request("POST", path)
        .header("content-type", "application/json");
    service
        .app
        .send(request.header("x-real-ip", address).body(body.to_string()))
        .await
        .status
}

async fn login(service: &Service, address: &str, password: &str) -> u16 {
    send(
        service,
        address,
        "/auth/login",
        json!({ "username": "ada", "password": password }),
    )
    .await
}

async fn register(service: &Service, address: &str) {
    let body = json!({ "username": "ada", "password": PASSWORD, "email": "ada@example.com" });
    assert_eq!(send(service, address, "/auth/register", body).await, 201);
}

/// Guesses from everywhere until none is taken any more.
async fn exhaust(service: &Service) {
    for (number, status) in [401, 401, 401, 429, 429].into_iter().enumerate() {
        assert_eq!(
            login(service, &format!("198.51.100.{number}"), WRONG).await,
            status
        );
    }
    assert_eq!(
        login(service, STRANGER, PASSWORD).await,
        429,
        "nor the right one"
    );
}

#[tokio::test]
async fn a_user_is_not_locked_out_of_a_known_network() {
    let service = serve().await;
    register(&service, HOME).await;
    exhaust(&service).await;
    assert_eq!(login(&service, HOME, PASSWORD).await, 200);
    assert_eq!(
        login(&service, "203.0.113.5", PASSWORD).await,
        429,
        "where nobody has logged in before"
    );
    // There the guesses are counted as well, apart from those of strangers, and all at once.
    let guesses = stream::iter((0..40).map(|_| login(&service, HOME, WRONG)));
    let replies: Vec<_> = guesses.buffer_unordered(16).collect().await;
    assert_eq!(replies.iter().filter(|status| **status == 401).count(), 3);
    assert_eq!(login(&service, HOME, PASSWORD).await, 429);
}

/// A subscriber has such a prefix, and devices take any address of it.
#[tokio::test]
async fn an_ipv6_network_is_known_by_its_64_bit_prefix() {
    let service = serve().await;
    register(&service, "2001:db8:1:2::1").await;
    exhaust(&service).await;
    assert_eq!(
        login(&service, "2001:db8:1:2:aaaa:bbbb:cccc:dddd", PASSWORD).await,
        200
    );
    assert_eq!(login(&service, "2001:db8:1:3::1", PASSWORD).await, 429);
}

/// Each known network has guesses of its own, so their number is limited.
#[tokio::test]
async fn the_latest_eight_networks_are_known() {
    let service = serve().await;
    register(&service, "203.0.113.0").await;
    for number in 1..=8 {
        assert_eq!(
            login(&service, &format!("203.0.113.{number}"), PASSWORD).await,
            200
        );
    }
    exhaust(&service).await;
    assert_eq!(login(&service, "203.0.113.0", PASSWORD).await, 429);
    for number in 1..=8 {
        assert_eq!(
            login(&service, &format!("203.0.113.{number}"), PASSWORD).await,
            200,
            "{number}"
        );
    }
}

/// Neither a failed guess nor a log-in to another account makes a network known.
#[tokio::test]
async fn a_network_is_known_only_after_a_log_in_and_expires() {
    let service = serve().await;
    register(&service, HOME).await;
    assert_eq!(login(&service, STRANGER, WRONG).await, 401);
    let eve = json!({ "username": "eve", "password": PASSWORD, "email": "eve@example.com" });
    assert_eq!(send(&service, STRANGER, "/auth/register", eve).await, 201);
    for status in [401, 401, 429] {
        assert_eq!(login(&service, STRANGER, WRONG).await, status);
    }
    assert_eq!(login(&service, STRANGER, PASSWORD).await, 429);
    assert_eq!(login(&service, HOME, PASSWORD).await, 200);
    // Nothing of it can be read.
    let pool = service.database.pool().await;
    let kept: Vec<String> =
        svc::sqlx::query_scalar("SELECT account || network FROM svc_auth.known_network")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert!(
        !kept.is_empty()
            && kept
                .iter()
                .all(|kept| kept.bytes().all(|byte| byte.is_ascii_hexdigit())),
        "{kept:?}"
    );
    service
        .database
        .execute("UPDATE svc_auth.known_network SET until = now() - interval '1 s'")
        .await;
    assert_eq!(login(&service, HOME, PASSWORD).await, 429);
}

/// A user who can read their mail gets in from anywhere: asking for a reset is not a log-in
/// attempt, even if the name is the address.
#[tokio::test]
async fn a_password_reset_by_mail_allows_a_log_in_despite_a_lock_out() {
    let (sender, mut mails) = unbounded_channel();
    let service = serve_and_mail(sender).await;
    let name = "ada@example.com";
    let body = json!({ "username": name, "password": PASSWORD, "email": name });
    assert_eq!(send(&service, HOME, "/auth/register", body).await, 201);
    let login = async |address: &str, password: &str| {
        send(
            &service,
            address,
            "/auth/login",
            json!({ "username": name, "password": password }),
        )
        .await
    };
    for status in [401, 401, 401, 429] {
        assert_eq!(login(STRANGER, WRONG).await, status);
    }
    let new = "203.0.113.5";
    assert_eq!(login(new, PASSWORD).await, 429);
    assert_eq!(
        send(
            &service,
            new,
            "/auth/password/forgot",
            json!({ "email": name })
        )
        .await,
        202
    );
    let token = tokio::time::timeout(Duration::from_secs(120), mails.recv())
        .await
        .unwrap()
        .unwrap();
    let reset = json!({ "token": token, "password": "Another-horse-8" });
    assert_eq!(
        send(&service, new, "/auth/password/reset", reset).await,
        200
    );
    assert_eq!(login(new, "Another-horse-8").await, 200);
    assert_eq!(login(STRANGER, "Another-horse-8").await, 429);
    // Mails have a count of their own.
    for status in [202, 202, 429] {
        assert_eq!(
            send(
                &service,
                STRANGER,
                "/auth/password/forgot",
                json!({ "email": name })
            )
            .await,
            status
        );
    }
    assert_eq!(login(HOME, "Another-horse-8").await, 200);
}
