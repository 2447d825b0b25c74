//! Users completed by the application.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::UserDatabase;
use crate::db::Db;
use svc_auth::{
    AuthError, AuthProvider, Authenticated, Claims, SharedProvider, TokenRevocationService,
    UserContext,
};

/// A user identified by the provider, for [`AppOptions::load_user`](crate::AppOptions::load_user).
#[derive(Debug)]
pub struct AuthenticatedUser {
    claims: Claims,
    user: UserContext,
    db: Db,
}

impl AuthenticatedUser {
    /// Returns the claims of the token.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Returns the user of the claims.
    pub fn user(&self) -> &UserContext {
        &self.user
    }

    /// Returns the user by value, to extend it.
    pub fn into_user(self) -> UserContext {
        self.user
    }

    /// Returns the database. Session variables that come from the user have the values of the
    /// token, and all others are empty, because there is no request yet.
    pub fn db(&self) -> &Db {
        &self.db
    }
}

type Load = dyn Fn(AuthenticatedUser) -> BoxFuture<'static, svc_core::Result<Option<UserContext>>>
    + Send
    + Sync;

/// The function that loads users, and the time that they are cached.
pub(crate) struct UserLoader {
    keep_for: Duration,
    load: Box<Load>,
}

impl UserLoader {
    pub(in crate::app) fn new<F, R>(keep_for: Duration, load: F) -> Self
    where
        F: Fn(AuthenticatedUser) -> R + Send + Sync + 'static,
        R: Future<Output = svc_core::Result<Option<UserContext>>> + Send + 'static,
    {
        Self {
            keep_for,
            load: Box::new(move |user| load(user).boxed()),
        }
    }

    /// Wraps a provider so that its users are loaded.
    pub(in crate::app) fn around(
        self,
        provider: SharedProvider,
        database: UserDatabase,
    ) -> SharedProvider {
        Arc::new(LoadedUsers {
            provider,
            loader: self,
            database,
        })
    }
}

/// A provider whose users the application completes.
struct LoadedUsers {
    provider: SharedProvider,
    loader: UserLoader,
    database: UserDatabase,
}

impl AuthProvider for LoadedUsers {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(AuthProvider::authenticate(self, token)
            .await?
            .claims()
            .clone())
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Ok(AuthProvider::authenticate(self, token)
            .await?
            .user()
            .clone())
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let authenticated = self.provider.authenticate(token).await?;
        let (claims, user) = (authenticated.claims().clone(), authenticated.user().clone());
        let db = self.database.of_user(&user)?;

        // The loaded data is at least as recent as this moment.
        let until = SystemTime::now().checked_add(self.loader.keep_for);
        let loaded = (self.loader.load)(AuthenticatedUser { claims, user, db }).await;
        let user = loaded.map_err(|error| AuthError::unavailable(error.chain()))?;
        let user = user.ok_or_else(|| AuthError::invalid("the application refuses the user"))?;

        Ok(authenticated.with_user(user, until))
    }

    async fn refresh_token(&self, refresh_token: &str) -> Result<(String, String), AuthError> {
        self.provider.refresh_token(refresh_token).await
    }

    async fn revoke_token(&self, token: &str) -> Result<(), AuthError> {
        self.provider.revoke_token(token).await
    }

    fn key_generation(&self) -> u64 {
        self.provider.key_generation()
    }

    fn revocation(&self) -> Option<TokenRevocationService> {
        self.provider.revocation()
    }

    fn weakness(&self) -> Option<String> {
        self.provider.weakness()
    }
}
