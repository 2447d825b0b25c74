//! The seam for places where users are kept.

use std::future::Future;

use futures_util::future::BoxFuture;
use uuid::Uuid;

use super::{Account, AccountError, PasswordHash};

/// A place where users and their passwords are kept. [`PostgresUserRepository`](super::PostgresUserRepository) is one;
/// an application whose users lie elsewhere writes its own.
///
/// Names come as they are kept: normalised (NFKC) and in lower case. A hash never leaves the repository: it gives the
/// salt, and compares.
///
/// Registering, logging in and refreshing need the methods without a default. The others are for changes of passwords,
/// mails and deletion; one that is missing answers those with 503, and the log names it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no users",
    note = "take `PostgresUserRepository`, or implement `UserRepository`"
)]
pub trait UserRepository: Send + Sync + 'static {
    /// Returns the account with a name.
    ///
    /// # Errors
    /// When the repository does not answer.
    fn get_user_by_username(
        &self,
        username: &str,
    ) -> impl Future<Output = Result<Option<Account>, AccountError>> + Send;

    /// Returns the account with an identifier.
    ///
    /// # Errors
    /// When the repository does not answer.
    fn get_user_by_id(&self, user_id: Uuid) -> impl Future<Output = Result<Option<Account>, AccountError>> + Send;

    /// Returns the account with an address of mail, upper and lower case alike.
    ///
    /// # Errors
    /// When the repository does not answer.
    fn get_user_by_email(&self, email: &str) -> impl Future<Output = Result<Option<Account>, AccountError>> + Send {
        let _ = email;
        missing("get_user_by_email")
    }

    /// Makes an account.
    ///
    /// # Errors
    /// [`AccountError::Taken`] when there is one with this name or address.
    fn create_user(
        &self,
        username: &str,
        password_hash: &PasswordHash,
        email: &str,
    ) -> impl Future<Output = Result<Account, AccountError>> + Send;

    /// Returns the hash of a user's password without its last part: [`PasswordHash::salt`].
    ///
    /// # Errors
    /// When the repository does not answer.
    fn password_salt(&self, user_id: Uuid) -> impl Future<Output = Result<Option<String>, AccountError>> + Send;

    /// Whether this is the hash that is kept.
    ///
    /// # Errors
    /// When the repository does not answer.
    fn password_matches(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
    ) -> impl Future<Output = Result<bool, AccountError>> + Send;

    /// Replaces the hash, in one step, if it is the one named or none is named; whether it did.
    ///
    /// # Errors
    /// When it is not kept for certain.
    fn set_password(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
        in_place_of: Option<&PasswordHash>,
    ) -> impl Future<Output = Result<bool, AccountError>> + Send {
        let _ = (user_id, hash, in_place_of);
        missing("set_password")
    }

    /// Notes that the user reads mail at an address; whether that is still the account's.
    ///
    /// # Errors
    /// When it is not kept for certain.
    fn verify_email(&self, user_id: Uuid, email: &str) -> impl Future<Output = Result<bool, AccountError>> + Send {
        let _ = (user_id, email);
        missing("verify_email")
    }

    /// Deletes an account; whether there was one.
    ///
    /// # Errors
    /// When it is not gone for certain.
    fn delete_user(&self, user_id: Uuid) -> impl Future<Output = Result<bool, AccountError>> + Send {
        let _ = user_id;
        missing("delete_user")
    }
}

/// The answer of a method that a repository does not have.
fn missing<T: Send>(method: &str) -> impl Future<Output = Result<T, AccountError>> + Send + use<T> {
    std::future::ready(Err(AccountError::unavailable(format!("the repository of users has no `{method}`"))))
}

type Answer<'a, T> = BoxFuture<'a, Result<T, AccountError>>;

/// [`UserRepository`] for trait objects.
pub(super) trait DynUsers: Send + Sync {
    fn by_username<'a>(&'a self, username: &'a str) -> Answer<'a, Option<Account>>;
    fn by_id(&self, user_id: Uuid) -> Answer<'_, Option<Account>>;
    fn by_email<'a>(&'a self, email: &'a str) -> Answer<'a, Option<Account>>;
    fn create<'a>(&'a self, username: &'a str, hash: &'a PasswordHash, email: &'a str) -> Answer<'a, Account>;
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
    fn create<'a>(&'a self, username: &'a str, hash: &'a PasswordHash, email: &'a str) -> Answer<'a, Account> {
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
