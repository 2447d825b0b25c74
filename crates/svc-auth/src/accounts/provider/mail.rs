//! Mails with tokens.

use std::error::Error;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::NativeAuthProvider;
use crate::accounts::database::Recipient;
use crate::accounts::{Account, AccountError, AccountMail, Client};

/// The timeout for sending a mail.
const PATIENCE: Duration = Duration::from_secs(60);

/// The purpose of a mailed token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    VerifyEmail,
    ResetPassword,
}

impl Purpose {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::VerifyEmail => "verify_email",
            Self::ResetPassword => "reset_password",
        }
    }

    fn ttl(self) -> Duration {
        match self {
            Self::VerifyEmail => Duration::from_secs(86_400),
            Self::ResetPassword => Duration::from_secs(3_600),
        }
    }

    fn mail(self, account: Account, token: String) -> AccountMail {
        match self {
            Self::VerifyEmail => AccountMail::VerifyEmail { account, token },
            Self::ResetPassword => AccountMail::ResetPassword { account, token },
        }
    }
}

/// The recipient of a mail.
pub(super) enum To {
    Account(Account),
    /// The account with an address, if there is one.
    Address(String),
}

impl NativeAuthProvider {
    /// Creates a token and mails it, in the background: the time this takes would reveal whether
    /// there is an account.
    pub(super) fn mail(&self, purpose: Purpose, to: To, client: &Client) {
        let Some(provider) = self.0.mailer.is_some().then(|| self.clone()) else {
            return;
        };

        // No mail waits for a permit, or a flood of requests would queue tasks without bound.
        let permit = match self.0.mails.take(client.network()) {
            Ok(permit) => permit,
            Err(why) => {
                tracing::warn!(?purpose, "a mail was not sent: {why}");
                return;
            }
        };

        tokio::spawn(async move {
            // A mailer that never returns would keep its permit forever.
            let sent = tokio::time::timeout(PATIENCE, provider.send(purpose, to)).await;
            let sent = sent.unwrap_or_else(|_| Err("it took too long".into()));
            if let Err(error) = sent {
                tracing::warn!(?purpose, %error, "a mail was not sent");
            }
            drop(permit);
        });
    }

    async fn send(&self, purpose: Purpose, to: To) -> Result<(), Box<dyn Error + Send + Sync>> {
        let account = match to {
            To::Account(account) => Some(account),
            To::Address(address) => self.0.users.by_email(&address).await?,
        };

        let (Some(mailer), Some(account)) =
            (&self.0.mailer, account.filter(|account| !account.disabled))
        else {
            return Ok(());
        };

        let token = self.make_mailed_token(purpose, &account).await?;
        mailer.send(purpose.mail(account, token)).await
    }

    async fn make_mailed_token(
        &self,
        purpose: Purpose,
        account: &Account,
    ) -> Result<String, AccountError> {
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| AccountError::unavailable("no random bytes"))?;
        let token = URL_SAFE_NO_PAD.encode(bytes);
        let to = Recipient {
            user_id: account.user_id,
            email: account.email.clone(),
        };

        self.0
            .database
            .keep_mailed_token(purpose.as_str(), &self.mac_of(&token), &to, purpose.ttl())
            .await?;

        Ok(token)
    }

    /// The MAC under which a token is stored: read access to the table does not allow using it.
    pub(super) fn mac_of(&self, token: &str) -> String {
        // The first word separates these MACs from the keys of attempts, which have the same
        // secret.
        hex::encode(hmac::sign(
            &self.0.mac_key,
            format!("mailed {token}").as_bytes(),
        ))
    }
}
