//! Repositories of an application's own.

use serde_json::json;
use svc::accounts::{
    Account, AccountDatabase, AccountError, PasswordHash, PostgresUserRepository, UserRepository,
};
use svc_tests::{App, Log, TestDatabase};

use super::client::{
    Held, PASSWORD, assert_accepted, assert_refused, login, refresh, register, with,
};
use super::service::{accounts, database, factory, provider, serve_provider};

type Id = svc::prelude::Uuid;

const NEW: &str = "Another-horse-8";

/// The methods without a default.
struct Few(PostgresUserRepository);

impl UserRepository for Few {
    async fn get_user_by_username(&self, username: &str) -> Result<Option<Account>, AccountError> {
        self.0.get_user_by_username(username).await
    }
    async fn get_user_by_id(&self, user_id: Id) -> Result<Option<Account>, AccountError> {
        self.0.get_user_by_id(user_id).await
    }
    async fn create_user(
        &self,
        username: &str,
        hash: &PasswordHash,
        email: &str,
    ) -> Result<Account, AccountError> {
        self.0.create_user(username, hash, email).await
    }
    async fn password_salt(&self, user_id: Id) -> Result<Option<String>, AccountError> {
        self.0.password_salt(user_id).await
    }
    async fn password_matches(
        &self,
        user_id: Id,
        hash: &PasswordHash,
    ) -> Result<bool, AccountError> {
        self.0.password_matches(user_id, hash).await
    }
}

#[tokio::test]
async fn the_required_repository_methods_suffice_to_log_in() {
    let log = Log::start();
    let database = database().await;
    let accounts = accounts(&database);
    let users = Few(PostgresUserRepository::new(&accounts));
    let app = serve_provider(&provider(factory(&accounts), users)).await;
    register(&app, "ada").await;
    let held = Held::of(&login(&app, "ada", PASSWORD).await);
    let held = Held::of(&refresh(&app, &held.refresh).await);
    assert_accepted(&app, &held).await;
    let change = json!({ "current_password": PASSWORD, "new_password": "Another-horse-8" });
    for (method, path, body, missing) in [
        ("POST", "/auth/password", change, "set_password"),
        (
            "DELETE",
            "/auth/me",
            json!({ "password": PASSWORD }),
            "delete_user",
        ),
    ] {
        let reply = with(&app, &held.access, method, path, body).await;
        assert_eq!(
            (reply.status, &reply.json()["error"]),
            (503, &json!("service_unavailable")),
            "{path}: {}",
            reply.text
        );
        log.has(&format!("the repository of users has no `{missing}`"))
            .await;
    }
    // Neither has ended the session.
    assert_accepted(&app, &held).await;
}

/// Users that may have their passwords elsewhere.
struct Elsewhere {
    users: PostgresUserRepository,
    /// Whether a password is set without an answer.
    is_silent: bool,
    /// Whether the passwords are known to be in the database of the sessions.
    is_near: bool,
}

impl UserRepository for Elsewhere {
    async fn get_user_by_username(&self, username: &str) -> Result<Option<Account>, AccountError> {
        self.users.get_user_by_username(username).await
    }
    async fn get_user_by_id(&self, user_id: Id) -> Result<Option<Account>, AccountError> {
        self.users.get_user_by_id(user_id).await
    }
    async fn create_user(
        &self,
        username: &str,
        hash: &PasswordHash,
        email: &str,
    ) -> Result<Account, AccountError> {
        self.users.create_user(username, hash, email).await
    }
    async fn password_salt(&self, user_id: Id) -> Result<Option<String>, AccountError> {
        self.users.password_salt(user_id).await
    }
    async fn password_matches(
        &self,
        user_id: Id,
        hash: &PasswordHash,
    ) -> Result<bool, AccountError> {
        self.users.password_matches(user_id, hash).await
    }
    async fn set_password(
        &self,
        user_id: Id,
        hash: &PasswordHash,
        old: Option<&PasswordHash>,
    ) -> Result<bool, AccountError> {
        let set = self.users.set_password(user_id, hash, old).await?;
        if self.is_silent {
            return Err(AccountError::unavailable("the answer is lost"));
        }
        Ok(set)
    }
    fn password_database(&self) -> Option<&AccountDatabase> {
        self.users.password_database().filter(|_| self.is_near)
    }
}

async fn serve_elsewhere(is_silent: bool, is_near: bool) -> (App, TestDatabase) {
    let database = database().await;
    let accounts = accounts(&database);
    let users = Elsewhere {
        users: PostgresUserRepository::new(&accounts),
        is_silent,
        is_near,
    };
    let app = serve_provider(&provider(factory(&accounts), users)).await;
    (app, database)
}

/// Changes the password of `ada`, of which the answer tells although it is a failure.
async fn assert_told(app: &App, held: &Held) {
    let change = json!({ "current_password": PASSWORD, "new_password": NEW });
    let reply = with(app, &held.access, "POST", "/auth/password", change).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]),
        (503, &json!("password_set")),
        "{}",
        reply.text
    );
    assert!(!reply.headers.contains_key("retry-after"));
    assert_eq!(login(app, "ada", PASSWORD).await.status, 401);
}

/// A trigger has the database refuse to end sessions, or to start them.
#[tokio::test]
async fn a_client_knows_of_a_new_password_whose_later_steps_failed() {
    for (event, table, ends) in [
        ("INSERT OR UPDATE", "svc_auth.epoch", false),
        ("INSERT", "svc_auth.session", true),
    ] {
        let (app, database) = serve_elsewhere(false, false).await;
        let held = register(&app, "ada").await;
        let other = Held::of(&login(&app, "ada", PASSWORD).await);
        database
            .execute(&format!(
                "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'fails'; END $$;
                 CREATE TRIGGER fail BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION fail()"
            ))
            .await;
        assert_told(&app, &held).await;
        database
            .execute(&format!("DROP TRIGGER fail ON {table}"))
            .await;
        if ends {
            assert_refused(&app, &other).await;
        } else {
            assert_accepted(&app, &other).await;
        }

        // As the answer advises.
        let held = Held::of(&login(&app, "ada", NEW).await);
        let ended = with(&app, &held.access, "POST", "/auth/logout-all", json!(null)).await;
        assert_eq!(ended.status, 200, "{}", ended.text);
        assert_refused(&app, &other).await;
    }
}

#[tokio::test]
async fn a_client_knows_of_a_new_password_whose_answer_was_lost() {
    let (app, _database) = serve_elsewhere(true, false).await;
    let held = register(&app, "ada").await;
    assert_told(&app, &held).await;
    assert_eq!(login(&app, "ada", NEW).await.status, 200);
}

/// A repository that names the database of the passwords is not asked to set them.
#[tokio::test]
async fn a_repository_shares_the_transaction_of_a_password_change() {
    let (app, database) = serve_elsewhere(true, true).await;
    let held = register(&app, "ada").await;
    let change = json!({ "current_password": PASSWORD, "new_password": NEW });
    let changed = with(&app, &held.access, "POST", "/auth/password", change).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let held = Held::of(&changed);

    database
        .execute("DROP FUNCTION svc_auth.begin_session(uuid, uuid, uuid, double precision, bigint, text)")
        .await;
    let back = json!({ "current_password": NEW, "new_password": PASSWORD });
    let reply = with(&app, &held.access, "POST", "/auth/password", back).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]),
        (503, &json!("service_unavailable")),
        "{}",
        reply.text
    );
    assert_accepted(&app, &held).await;
}
