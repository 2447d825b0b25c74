//! The notes of log-ins: events of `tracing` with the target `svc::security`. They hold identifiers, and never a
//! name that was typed, which may be a password.

use uuid::Uuid;

use super::Client;

/// An event of accounts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Registered,
    LoggedIn,
    LoginFailed,
    TooManyAttempts,
    LoggedOut,
    LoggedOutEverywhere,
    /// A refresh token came again, so that its session has ended.
    RefreshReused,
    PasswordChanged,
    PasswordReset,
    Deleted,
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Self::Registered | Self::LoggedIn => "auth.success",
            Self::LoginFailed | Self::TooManyAttempts => "auth.failure",
            Self::LoggedOut | Self::LoggedOutEverywhere | Self::Deleted => "auth.logout",
            Self::RefreshReused => "auth.token_invalid",
            Self::PasswordChanged | Self::PasswordReset => "config.changed",
        }
    }

    fn is_warning(self) -> bool {
        matches!(self, Self::LoginFailed | Self::TooManyAttempts | Self::RefreshReused)
    }
}

/// Notes an event, of a user where one is known.
pub(super) fn note(event: Event, user_id: Option<Uuid>, client: &Client) {
    let user = user_id.map(tracing::field::display);
    let address = client.address.map(tracing::field::display);
    let event_type = event.name();
    if event.is_warning() {
        tracing::warn!(target: "svc::security", event_type, reason = ?event, user_id = user, ip_address = address);
    } else {
        tracing::info!(target: "svc::security", event_type, reason = ?event, user_id = user, ip_address = address);
    }
}
