//! A service with native accounts.

use std::time::Duration;

use svc::accounts::{
    AccountDatabase, MIGRATION, NativeAuthFactory, NativeAuthProvider, PasswordHashing,
    PostgresUserRepository, UserRepository, create_auth_router,
};
use svc::create_svc_app;
use svc_tests::{App, TestDatabase, cluster};

use crate::auth::service::options;

pub(crate) const SECRET: &str = "a secret of the tests, of more than 32 bytes";
pub(crate) const ROLE: &str = "svc_accounts_service";

/// A service, its provider and its database.
pub(crate) struct Service {
    pub(crate) app: App,
    pub(crate) provider: NativeAuthProvider,
    pub(crate) database: TestDatabase,
}

/// A database with the shipped migration.
pub(crate) async fn database() -> TestDatabase {
    let role = format!(
        "DO $do$ BEGIN CREATE ROLE {ROLE} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $do$;"
    );
    TestDatabase::copy_of(
        "accounts",
        &format!("{MIGRATION}; {role} SELECT svc_auth.allow('{ROLE}');"),
    )
    .await
}

/// The URL of a database for the service's role, which owns nothing.
pub(crate) fn url_of(database: &TestDatabase) -> String {
    cluster()
        .url_for(database.name())
        .replacen("postgres@", &format!("{ROLE}@"), 1)
}

/// The accounts of a database, as the service's role uses them.
pub(crate) fn accounts(database: &TestDatabase) -> AccountDatabase {
    AccountDatabase::new(&url_of(database)).unwrap()
}

/// Hashes that cost next to nothing.
pub(crate) fn cheap() -> PasswordHashing {
    let mut hashing = PasswordHashing::default();
    (hashing.memory, hashing.passes) = (64, 1);
    hashing
}

/// A factory whose hashes cost next to nothing.
pub(crate) fn factory(accounts: &AccountDatabase) -> NativeAuthFactory {
    NativeAuthFactory::new(accounts).hashing(cheap())
}

/// A provider with the usual times.
pub(crate) fn provider(
    factory: NativeAuthFactory,
    users: impl UserRepository,
) -> NativeAuthProvider {
    svc_tests::secret(SECRET);
    factory
        .create_provider(
            users,
            SECRET,
            Duration::from_secs(900),
            Duration::from_secs(2_592_000),
        )
        .unwrap()
}

/// Serves `/auth` and a service whose users it knows.
pub(crate) async fn serve_provider(provider: &NativeAuthProvider) -> App {
    svc_tests::capture_log();
    let app = create_svc_app(options().auth_provider(provider.clone()))
        .await
        .unwrap();
    App::serve_router(app.nest("/auth", create_auth_router(provider))).await
}

/// A service of a factory that is changed.
pub(crate) async fn serve_with(
    change: impl FnOnce(NativeAuthFactory) -> NativeAuthFactory,
) -> Service {
    let database = database().await;
    let accounts = accounts(&database);
    let provider = provider(
        change(factory(&accounts)),
        PostgresUserRepository::new(&accounts),
    );
    Service {
        app: serve_provider(&provider).await,
        provider,
        database,
    }
}

/// A service.
pub(crate) async fn serve() -> Service {
    serve_with(|factory| factory).await
}
