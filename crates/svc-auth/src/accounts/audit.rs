//! The security events of accounts. They contain identifiers, and never a typed name, which may be
//! a password.

use uuid::Uuid;

use super::refused::Refused;
use super::{Account, Client};
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, record};

/// An event of accounts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Registered,
    LoggedIn,
    LoginFailed,
    TooManyAttempts,
    TooManyRegistrations,
    LoggedOut,
    LoggedOutEverywhere,
    /// A user ended one of their sessions.
    SessionEnded,
    /// A refresh token was reused, so its session has ended.
    RefreshReused,
    /// An access or refresh token has expired.
    TokenExpired,
    /// An access or refresh token is invalid.
    TokenInvalid,
    /// A mailed token is invalid.
    MailedTokenInvalid,
    PasswordChanged,
    PasswordReset,
    Deleted,
}

impl Event {
    fn event_type(self) -> SecurityEventType {
        match self {
            Self::Registered | Self::LoggedIn => SecurityEventType::AuthSuccess,
            Self::LoginFailed | Self::TooManyAttempts | Self::TooManyRegistrations => {
                SecurityEventType::AuthFailure
            }
            Self::LoggedOut | Self::LoggedOutEverywhere | Self::SessionEnded | Self::Deleted => {
                SecurityEventType::AuthLogout
            }
            Self::TokenExpired => SecurityEventType::AuthTokenExpired,
            Self::RefreshReused | Self::TokenInvalid | Self::MailedTokenInvalid => {
                SecurityEventType::AuthTokenInvalid
            }
            Self::PasswordChanged | Self::PasswordReset => SecurityEventType::ConfigChanged,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::LoggedIn => "logged in",
            Self::LoginFailed => "the name or the password is wrong",
            Self::TooManyAttempts => "too many attempts",
            Self::TooManyRegistrations => "too many registrations",
            Self::LoggedOut => "logged out",
            Self::LoggedOutEverywhere => "logged out everywhere",
            Self::SessionEnded => "ended one of their sessions",
            Self::RefreshReused => "a refresh token was used twice, so its session has ended",
            Self::TokenExpired => "the token has expired",
            Self::TokenInvalid => "the token is not valid, or its session has ended",
            Self::MailedTokenInvalid => "the token of a mail is not valid, or was used",
            Self::PasswordChanged => "the password was changed",
            Self::PasswordReset => "the password was reset by a mail",
            Self::Deleted => "the account was deleted",
        }
    }
}

/// Records an event, with its user if there is one.
pub(super) fn note(event: Event, user_id: Option<Uuid>, client: &Client) {
    record(security_event(event, user_id, client));
}

/// Records a registration or a log-in.
pub(super) fn note_login(event: Event, account: &Account, client: &Client) {
    record(security_event(event, Some(account.user_id), client).user_email(account.email.as_str()));
}

/// Records the rejection of a token; ignores other rejections.
pub(super) fn note_refused_token(refused: &Refused, client: &Client) {
    match refused {
        Refused::BadToken { expired: true } => note(Event::TokenExpired, None, client),
        Refused::BadToken { expired: false } => note(Event::TokenInvalid, None, client),
        Refused::BadMailedToken => note(Event::MailedTokenInvalid, None, client),
        _ => {}
    }
}

fn security_event(event: Event, user_id: Option<Uuid>, client: &Client) -> SecurityEvent {
    let mut security = SecurityEvent::new(event.event_type()).reason(event.reason());
    security.user_id = user_id.map(|id| id.to_string());
    security.ip_address = client.address;
    security.user_agent = client.user_agent.clone();
    security
}
