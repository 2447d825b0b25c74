//! The stores of users.

mod postgres;

pub use postgres::PostgresUserRepository;

use std::future::Future;

use futures_util::future::BoxFuture;
use uuid::Uuid;

use super::{Account, AccountDatabase, AccountError, PasswordHash};

/// A store of users and their passwords. [`PostgresUserRepository`](super::PostgresUserRepository)
/// is one; an application with users elsewhere implements its own.
///
/// Names are passed in their stored form: that of RFC 8265 (UsernameCaseMapped), in lower case and
/// composed (NFC). A hash never leaves the repository: it returns the salt, and compares.
///
/// Registration, log-in and token refresh need the methods without a default. The others are for
/// password changes, mails and deletion; if one is missing, those requests get 503, and the log
/// names the method.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no users",
    note = "take `PostgresUserRepository`, or implement `UserRepository`"
)]
pub trait UserRepository: Send + Sync + 'static {
    /// Returns the account with a name.
    ///
    /// # Errors
    /// If the repository does not answer.
    fn get_user_by_username(
        &self,
        username: &str,
    ) -> impl Future<Output = Result<Option<Account>, AccountError>> + Send;

    /// Returns the account with an identifier.
    ///
    /// # Errors
    /// If the repository does not answer.
    fn get_user_by_id(
        &self,
        user_id: Uuid,
    ) -> impl Future<Output = Result<Option<Account>, AccountError>> + Send;

    /// Returns the account with an email address, ignoring case.
    ///
    /// # Errors
    /// If the repository does not answer.
    fn get_user_by_email(
        &self,
        email: &str,
    ) -> impl Future<Output = Result<Option<Account>, AccountError>> + Send {
        let _ = email;
        missing("get_user_by_email")
    }

    /// Creates an account.
    ///
    /// # Errors
    /// [`AccountError::Taken`] if there is one with this name or address.
    fn create_user(
        &self,
        username: &str,
        password_hash: &PasswordHash,
        email: &str,
    ) -> impl Future<Output = Result<Account, AccountError>> + Send;

    /// Returns the hash of a user's password without its last part: [`PasswordHash::salt`].
    ///
    /// # Errors
    /// If the repository does not answer.
    fn password_salt(
        &self,
        user_id: Uuid,
    ) -> impl Future<Output = Result<Option<String>, AccountError>> + Send;

    /// Whether this is the stored hash.
    ///
    /// # Errors
    /// If the repository does not answer.
    fn password_matches(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
    ) -> impl Future<Output = Result<bool, AccountError>> + Send;

    /// Replaces the hash, in one atomic step, if the stored one is `in_place_of` or that is `None`;
    /// returns whether it did.
    ///
    /// # Errors
    /// If the change may not have been saved.
    fn set_password(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
        in_place_of: Option<&PasswordHash>,
    ) -> impl Future<Output = Result<bool, AccountError>> + Send {
        let _ = (user_id, hash, in_place_of);
        missing("set_password")
    }

    /// Marks an address as verified; returns whether it is still the account's.
    ///
    /// # Errors
    /// If the change may not have been saved.
    fn verify_email(
        &self,
        user_id: Uuid,
        email: &str,
    ) -> impl Future<Output = Result<bool, AccountError>> + Send {
        let _ = (user_id, email);
        missing("verify_email")
    }

    /// Deletes an account; returns whether there was one.
    ///
    /// # Errors
    /// If the account may not have been deleted.
    fn delete_user(
        &self,
        user_id: Uuid,
    ) -> impl Future<Output = Result<bool, AccountError>> + Send {
        let _ = user_id;
        missing("delete_user")
    }

    /// Returns the database that has the passwords of these users in `svc_auth.password`, if they
    /// are there. If the sessions are in the same database, a new password and the end of the
    /// sessions are one transaction, which does not call [`set_password`](Self::set_password).
    fn password_database(&self) -> Option<&AccountDatabase> {
        None
    }
}

/// The result of a method that a repository does not implement.
fn missing<T: Send>(method: &str) -> impl Future<Output = Result<T, AccountError>> + Send + use<T> {
    std::future::ready(Err(AccountError::unavailable(format!(
        "the repository of users has no `{method}`"
    ))))
}

type Answer<'a, T> = BoxFuture<'a, Result<T, AccountError>>;

/// [`UserRepository`] for trait objects.
pub(super) trait DynUsers: Send + Sync {
    fn by_username<'a>(&'a self, username: &'a str) -> Answer<'a, Option<Account>>;
    fn by_id(&self, user_id: Uuid) -> Answer<'_, Option<Account>>;
    fn by_email<'a>(&'a self, email: &'a str) -> Answer<'a, Option<Account>>;
    fn create<'a>(
        &'a self,
        username: &'a str,
        hash: &'a PasswordHash,
        email: &'a str,
    ) -> Answer<'a, Account>;
    fn salt(&self, user_id: Uuid) -> Answer<'_, Option<String>>;
    fn matches<'a>(&'a self, user_id: Uuid, hash: &'a PasswordHash) -> Answer<'a, bool>;
    fn set_password<'a>(
        &'a self,
        user_id: Uuid,
        hash: &'a PasswordHash,
        old: Option<&'a PasswordHash>,
    ) -> Answer<'a, bool>;
    fn verify_email<'a>(&'a self, user_id: Uuid, email: &'a str) -> Answer<'a, bool>;
    fn delete(&self, user_id: Uuid) -> Answer<'_, bool>;
}

impl<R: UserRepository> DynUsers for R {
    fn by_username<'a>(&'a self, username: &'a str) -> Answer<'a, Option<Account>> {
        Box::pin(self.get_user_by_username(username))
    }
    fn by_id(&self, user_id: Uuid) -> Answer<'_, Option<Account>> {
        Box::pin(self.get_user_by_id(user_id))
    }
    fn by_email<'a>(&'a self, email: &'a str) -> Answer<'a, Option<Account>> {
        Box::pin(self.get_user_by_email(email))
    }
    fn create<'a>(
        &'a self,
        username: &'a str,
        hash: &'a PasswordHash,
        email: &'a str,
    ) -> Answer<'a, Account> {
        Box::pin(self.create_user(username, hash, email))
    }
    fn salt(&self, user_id: Uuid) -> Answer<'_, Option<String>> {
        Box::pin(self.password_salt(user_id))
    }
    fn matches<'a>(&'a self, user_id: Uuid, hash: &'a PasswordHash) -> Answer<'a, bool> {
        Box::pin(self.password_matches(user_id, hash))
    }
    fn set_password<'a>(
        &'a self,
        user_id: Uuid,
        hash: &'a PasswordHash,
        old: Option<&'a PasswordHash>,
    ) -> Answer<'a, bool> {
        Box::pin(UserRepository::set_password(self, user_id, hash, old))
    }
    fn verify_email<'a>(&'a self, user_id: Uuid, email: &'a str) -> Answer<'a, bool> {
        Box::pin(UserRepository::verify_email(self, user_id, email))
    }
    fn delete(&self, user_id: Uuid) -> Answer<'_, bool> {
        Box::pin(self.delete_user(user_id))
    }
}
