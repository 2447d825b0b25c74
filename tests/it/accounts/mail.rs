//! Tokens that are mailed.

use std::error::Error;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::accounts::{AccountMail, AccountMailer, AttemptLimits, NativeAuthFactory};
use svc_tests::Log;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::client::{Held, PASSWORD, assert_accepted, assert_refused, login, post, register, with};
use super::half_done::{Breaking, until_refused};
use super::password_rules::{LEAKED, Leaked};
use super::service::{Service, serve, serve_with};

const NEW: &str = "Another-horse-8";

struct Outbox(UnboundedSender<AccountMail>);

impl AccountMailer for Outbox {
    async fn send(&self, mail: AccountMail) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.0.send(mail)?)
    }
}

/// A mailer that takes mails and finishes none.
struct Hanging(UnboundedSender<AccountMail>);

impl AccountMailer for Hanging {
    async fn send(&self, mail: AccountMail) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.send(mail)?;
        std::future::pending().await
    }
}

struct Mails(Mutex<UnboundedReceiver<AccountMail>>);

impl Mails {
    async fn next(&self) -> (&'static str, String) {
        let next = async { self.0.lock().await.recv().await.unwrap() };
        match tokio::time::timeout(std::time::Duration::from_secs(120), next)
            .await
            .unwrap()
        {
            AccountMail::VerifyEmail { token, .. } => ("verify", token),
            AccountMail::ResetPassword { token, .. } => ("reset", token),
            _ => ("", String::new()),
        }
    }
}

/// A service, its mails, and `ada`, whose address is not verified yet.
async fn start() -> (Service, Mails, Held, String) {
    start_with(|factory| factory).await
}

async fn start_with(
    change: impl FnOnce(NativeAuthFactory) -> NativeAuthFactory,
) -> (Service, Mails, Held, String) {
    let (sender, mails) = unbounded_channel();
    let service = serve_with(|factory| change(factory.mailer(Outbox(sender)))).await;
    let held = register(&service.app, "ada").await;
    let mails = Mails(Mutex::new(mails));
    let (kind, token) = mails.next().await;
    assert_eq!(kind, "verify");
    (service, mails, held, token)
}

async fn forgot(service: &Service, email: &str) -> Value {
    let reply = post(
        &service.app,
        "/auth/password/forgot",
        json!({ "email": email }),
    )
    .await;
    assert_eq!(reply.status, 202, "{}", reply.text);
    reply.json()
}

async fn reset(service: &Service, token: &str, password: &str) -> svc_tests::Reply {
    post(
        &service.app,
        "/auth/password/reset",
        json!({ "token": token, "password": password }),
    )
    .await
}

/// The response is the same whether or not the account exists.
#[tokio::test]
async fn a_reset_sets_the_password_and_ends_all_sessions() {
    let (service, mails, held, _) = start().await;
    assert_eq!(
        forgot(&service, "nobody@example.com").await,
        forgot(&service, "ADA@example.com").await
    );
    let (kind, token) = mails.next().await;
    assert_eq!(kind, "reset");
    let weak = reset(&service, &token, "weak").await;
    assert_eq!(
        (weak.status, &weak.json()["rule"]),
        (422, &json!("min_length"))
    );
    let own = reset(&service, &token, "ada-2024!!").await;
    assert_eq!((own.status, &own.json()["rule"]), (422, &json!("own_name")));
    assert_eq!(reset(&service, &token, NEW).await.status, 200);
    assert_refused(&service.app, &held).await;
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 401);
    assert_accepted(
        &service.app,
        &Held::of(&login(&service.app, "ada", NEW).await),
    )
    .await;
    assert_eq!(reset(&service, &token, PASSWORD).await.status, 400);
}

#[tokio::test]
async fn a_breached_password_does_not_use_up_a_reset_token() {
    let (service, mails, ..) =
        start_with(|factory| factory.breached_passwords(Leaked::default())).await;
    forgot(&service, "ada@example.com").await;
    let (_, token) = mails.next().await;
    let refused = reset(&service, &token, LEAKED).await;
    assert_eq!(
        (refused.status, &refused.json()["rule"]),
        (422, &json!("breached"))
    );
    assert_eq!(reset(&service, &token, NEW).await.status, 200);
}

#[tokio::test]
async fn a_reset_ends_older_tokens_when_the_store_works_again() {
    let store = Breaking::default();
    let (service, mails, held, _) = start_with(|factory| factory.revocation(store.service())).await;
    forgot(&service, "ada@example.com").await;
    let (_, token) = mails.next().await;
    store.set_broken(true);
    let done = reset(&service, &token, NEW).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_accepted(&service.app, &held).await;
    store.set_broken(false);
    until_refused(&service.app, &held).await;
    assert_accepted(
        &service.app,
        &Held::of(&login(&service.app, "ada", NEW).await),
    )
    .await;
}

/// A trigger has the database refuse to end sessions.
#[tokio::test]
async fn a_token_can_be_used_again_after_a_reset_that_failed() {
    let (service, mails, held, _) = start().await;
    forgot(&service, "ada@example.com").await;
    let (_, token) = mails.next().await;
    service
        .database
        .execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'sessions stay'; END $$;
             CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON svc_auth.epoch FOR EACH ROW EXECUTE FUNCTION fail()",
        )
        .await;
    let failed = reset(&service, &token, NEW).await;
    assert_eq!(
        (failed.status, &failed.json()["error"]),
        (503, &json!("service_unavailable")),
        "{}",
        failed.text
    );
    assert_accepted(&service.app, &held).await;
    service
        .database
        .execute("DROP TRIGGER fail ON svc_auth.epoch")
        .await;
    assert_eq!(login(&service.app, "ada", NEW).await.status, 401);
    assert_eq!(reset(&service, &token, NEW).await.status, 200);
    assert_refused(&service.app, &held).await;
    assert_eq!(login(&service.app, "ada", NEW).await.status, 200);
}

/// It undoes no log-in either: an attempt that stays counted expires with its window.
#[tokio::test]
async fn a_failure_to_forgive_an_attempt_undoes_no_reset() {
    let log = Log::start();
    let (service, mails, held, _) = start().await;
    forgot(&service, "ada@example.com").await;
    let (_, token) = mails.next().await;
    let broken = "CREATE OR REPLACE FUNCTION svc_auth.forgive_attempt(keys text[]) RETURNS jsonb \
                  LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$";
    service.database.execute(broken).await;
    let done = reset(&service, &token, NEW).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_refused(&service.app, &held).await;
    assert_accepted(
        &service.app,
        &Held::of(&login(&service.app, "ada", NEW).await),
    )
    .await;
    log.has("an attempt stays counted").await;
}

#[tokio::test]
async fn one_of_twenty_concurrent_uses_of_a_token_succeeds() {
    let (service, mails, ..) = start().await;
    forgot(&service, "ada@example.com").await;
    let (_, token) = mails.next().await;
    let passwords: Vec<_> = (10..30).map(|number| format!("{NEW}{number}")).collect();
    let replies = join_all(
        passwords
            .iter()
            .map(|password| reset(&service, &token, password)),
    )
    .await;
    let done: Vec<_> = (0..20)
        .filter(|index| replies[*index].status == 200)
        .collect();
    assert_eq!(done.len(), 1);
    assert!(
        replies
            .iter()
            .all(|reply| [200, 400].contains(&reply.status))
    );
    assert_eq!(
        login(&service.app, "ada", &passwords[done[0]]).await.status,
        200
    );
}

/// A token for one purpose is refused for another.
#[tokio::test]
async fn only_the_newest_token_of_a_purpose_is_accepted() {
    let (service, mails, _, verification) = start().await;
    forgot(&service, "ada@example.com").await;
    let (_, first) = mails.next().await;
    forgot(&service, "ada@example.com").await;
    let (_, second) = mails.next().await;
    for bad in [first.as_str(), &verification, "", "x"] {
        let reply = reset(&service, bad, NEW).await;
        assert_eq!(
            (reply.status, &reply.json()["error"]),
            (400, &json!("invalid_token"))
        );
    }
    let verify = async |token: &str| {
        post(
            &service.app,
            "/auth/email/verify",
            json!({ "token": token }),
        )
        .await
        .status
    };
    assert_eq!(verify(&second).await, 400);
    assert_eq!(reset(&service, &second, NEW).await.status, 200);
}

#[tokio::test]
async fn an_address_is_verified_by_its_token() {
    let (service, mails, held, first) = start().await;
    let verified = async || {
        with(&service.app, &held.access, "GET", "/auth/me", Value::Null)
            .await
            .json()["user"]["email_verified"]
            .clone()
    };
    let again = with(
        &service.app,
        &held.access,
        "POST",
        "/auth/email/verification",
        Value::Null,
    )
    .await;
    assert_eq!(again.status, 202);
    let (_, second) = mails.next().await;
    let verify = async |token: &str| {
        post(
            &service.app,
            "/auth/email/verify",
            json!({ "token": token }),
        )
        .await
        .status
    };
    assert_eq!(
        (verify(&first).await, verified().await),
        (400, json!(false))
    );
    assert_eq!(
        (verify(&second).await, verified().await),
        (200, json!(true))
    );
    assert_eq!(verify(&second).await, 400);
}

/// The stored codes are not accepted as tokens.
#[tokio::test]
async fn mailed_tokens_are_stored_as_macs_and_expire() {
    let (service, mails, ..) = start().await;
    forgot(&service, "ada@example.com").await;
    let (_, token) = mails.next().await;
    let pool = service.database.pool().await;
    let kept: Vec<String> = svc::sqlx::query_scalar("SELECT mac FROM svc_auth.mailed_token")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(kept.len(), 2);
    for mac in &kept {
        assert_eq!(reset(&service, mac, NEW).await.status, 400);
    }
    service
        .database
        .execute("UPDATE svc_auth.mailed_token SET expires_at = now() - interval '1 s'")
        .await;
    assert_eq!(reset(&service, &token, NEW).await.status, 400);
}

#[tokio::test]
async fn mail_routes_are_absent_without_a_sender() {
    let service = serve().await;
    assert_eq!(
        post(
            &service.app,
            "/auth/password/forgot",
            json!({ "email": "ada@example.com" })
        )
        .await
        .status,
        404
    );
}

#[tokio::test]
async fn one_network_does_not_prevent_the_mails_of_others() {
    let log = Log::start();
    let (sender, mut mails) = unbounded_channel();
    let service = serve_with(|factory| {
        let mut limits = AttemptLimits::default();
        (limits.per_account, limits.per_address) = (1_000, 1_000);
        let factory = factory.attempt_limits(limits).mailer(Hanging(sender));
        factory.client_address(|headers, _| headers.get("x-address")?.to_str().ok()?.parse().ok())
    })
    .await;
    for name in ["ada", "bob"] {
        register(&service.app, name).await;
    }
    let forgot_from = async |address: &str, name: &str| {
        let body = json!({ "email": format!("{name}@example.com") });
        let request = service.app.request("POST", "/auth/password/forgot");
        let request = request.header("x-address", address).json(&body);
        let reply = service.app.send(request).await;
        assert_eq!(reply.status, 202, "{}", reply.text);
    };
    for _ in 0..80 {
        forgot_from("192.0.2.1", "ada").await;
    }
    log.has("too many are being sent for clients of the same network")
        .await;
    forgot_from("192.0.2.2", "bob").await;
    let of_bob = async {
        loop {
            match mails.recv().await.unwrap() {
                AccountMail::ResetPassword { account, .. } if account.username == "bob" => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(120), of_bob)
        .await
        .expect("the mail to Bob");
}
