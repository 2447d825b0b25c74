//! The seam for senders of mails.

use std::error::Error;
use std::future::Future;

use futures_util::future::BoxFuture;

use super::Account;

/// The most mails that are sent at once; further ones are not sent, and the log says so.
pub(super) const MOST_MAILS: usize = 64;

/// A mail to be sent: a token to the one whose account it is. `Debug` does not show the token.
#[derive(Clone)]
#[non_exhaustive]
pub enum AccountMail {
    /// The address is to be verified: `POST …/email/verify` takes the token, for a day.
    VerifyEmail {
        /// The account, with the address.
        account: Account,
        /// The token for the link.
        token: String,
    },
    /// The password is to be set anew: `POST …/password/reset` takes the token, for an hour.
    ResetPassword {
        /// The account, with the address.
        account: Account,
        /// The token for the link.
        token: String,
    },
}

/// A sender of mails, which the application brings.
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
    /// Sends a mail, or puts it where it is sent from. Requests do not wait for it.
    ///
    /// # Errors
    /// When it is not sent; the log says so.
    fn send(&self, mail: AccountMail) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send;
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
        f.debug_struct(name).field("account", account).finish_non_exhaustive()
    }
}
