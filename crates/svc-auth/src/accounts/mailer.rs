//! The trait for senders of mails.

use std::error::Error;
use std::future::Future;

use futures_util::future::BoxFuture;

use super::Account;

/// A mail to be sent: a token for the owner of an account. `Debug` does not show the token.
#[derive(Clone)]
#[non_exhaustive]
pub enum AccountMail {
    /// Verifies the address: `POST …/email/verify` accepts the token, for a day.
    VerifyEmail {
        /// The account, with the address.
        account: Account,
        /// The token for the link.
        token: String,
    },
    /// Resets the password: `POST …/password/reset` accepts the token, for an hour.
    ResetPassword {
        /// The account, with the address.
        account: Account,
        /// The token for the link.
        token: String,
    },
}

/// A sender of mails, provided by the application.
///
/// ```
/// use svc::accounts::{AccountMail, AccountMailer};
///
/// struct Outbox;
///
/// impl AccountMailer for Outbox {
///     async fn send(&self, mail: AccountMail) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///         if let AccountMail::ResetPassword { account, token } = mail {
///             let link = format!("https://shop.example/reset#{token}");
///             // Hand `link` to the mail server, for `account.email`.
/// #           let _ = (account.email, link);
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait AccountMailer: Send + Sync + 'static {
    /// Sends a mail, or queues it for sending. Requests do not wait for it.
    ///
    /// At most 64 mails are sent at once, and at most 16 of them for clients of the same network.
    /// Further mails are dropped, and a warning is logged.
    ///
    /// # Errors
    /// If the mail is not sent; the error is logged.
    fn send(
        &self,
        mail: AccountMail,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send;
}

/// [`AccountMailer`] for trait objects.
pub(super) trait DynMailer: Send + Sync {
    fn send(&self, mail: AccountMail) -> BoxFuture<'_, Result<(), Box<dyn Error + Send + Sync>>>;
}

impl<M: AccountMailer> DynMailer for M {
    fn send(&self, mail: AccountMail) -> BoxFuture<'_, Result<(), Box<dyn Error + Send + Sync>>> {
        Box::pin(AccountMailer::send(self, mail))
    }
}

impl std::fmt::Debug for AccountMail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, account) = match self {
            Self::VerifyEmail { account, .. } => ("VerifyEmail", account),
            Self::ResetPassword { account, .. } => ("ResetPassword", account),
        };
        f.debug_struct(name)
            .field("account", account)
            .finish_non_exhaustive()
    }
}
