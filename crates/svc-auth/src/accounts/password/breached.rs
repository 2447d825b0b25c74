//! The trait for lists of breached passwords.

use std::error::Error;
use std::future::Future;

use futures_util::future::BoxFuture;

/// A list of passwords that have appeared in breaches, provided by the application. New passwords
/// that satisfy all other rules are looked up in it.
///
/// A list can be a file, a table, or a service such as Have I Been Pwned. Do not log the password,
/// and do not send it: such services accept the first digits of its hash, and return all hashes
/// that start with them.
///
/// ```
/// use std::collections::HashSet;
/// use std::error::Error;
///
/// use svc::accounts::BreachedPasswords;
///
/// struct Leaked(HashSet<String>);
///
/// impl BreachedPasswords for Leaked {
///     async fn contains(&self, password: &str) -> Result<bool, Box<dyn Error + Send + Sync>> {
///         Ok(self.0.contains(password))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of breached passwords",
    note = "implement `BreachedPasswords`"
)]
pub trait BreachedPasswords: Send + Sync + 'static {
    /// Returns whether the list contains a password, which is normalized (NFC).
    ///
    /// # Errors
    /// If the list cannot be searched. The error is logged, so it must not contain the password.
    fn contains(
        &self,
        password: &str,
    ) -> impl Future<Output = Result<bool, Box<dyn Error + Send + Sync>>> + Send;
}

/// [`BreachedPasswords`] for trait objects.
pub(in crate::accounts) trait DynBreached: Send + Sync {
    fn look_up<'a>(
        &'a self,
        password: &'a str,
    ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>>;
}

impl<L: BreachedPasswords> DynBreached for L {
    fn look_up<'a>(
        &'a self,
        password: &'a str,
    ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>> {
        Box::pin(self.contains(password))
    }
}
