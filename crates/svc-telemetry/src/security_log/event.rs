//! Security events.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::{SecurityEventType, SecuritySeverity};

/// A security event. The log adds the time, truncates texts that are too long, and omits fields
/// that are not set.
///
/// ```
/// use svc::security_log::{SecurityEvent, SecurityEventType, SecuritySeverity};
///
/// let event = SecurityEvent::new(SecurityEventType::Custom("payment.refused"))
///     .severity(SecuritySeverity::Warning)
///     .user_id("ada")
///     .reason("the card was reported as stolen")
///     .metadata("amount", 300);
/// assert_eq!(event.event_type.as_str(), "payment.refused");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use = "give the event to `SecurityLogger::log_event`"]
pub struct SecurityEvent {
    /// The kind of event.
    pub event_type: SecurityEventType,
    /// The severity; by default that of the type.
    pub severity: SecuritySeverity,
    /// The user.
    pub user_id: Option<String>,
    /// The user's mail address.
    pub user_email: Option<String>,
    /// The address of the client.
    pub ip_address: Option<IpAddr>,
    /// The user agent, as sent by the client.
    pub user_agent: Option<String>,
    /// The request; by default that of the task which logs the event.
    pub request_id: Option<String>,
    /// The subject: a path, a field, a token.
    pub resource: Option<String>,
    /// The action on the subject.
    pub action: Option<String>,
    /// The outcome, such as `success` or `denied`; by default that of the type.
    pub result: String,
    /// The reason.
    pub reason: Option<String>,
    /// Further facts.
    pub metadata: Map<String, Value>,
}

/// Declares the builder's methods for texts.
macro_rules! texts {
    ($($(#[doc = $doc:literal])+ $field:ident;)+) => {$(
        $(#[doc = $doc])+
        pub fn $field(mut self, $field: impl Into<String>) -> Self {
            self.$field = Some($field.into());
            self
        }
    )+};
}

impl SecurityEvent {
    /// Creates an event with only a type.
    pub fn new(event_type: SecurityEventType) -> Self {
        Self {
            event_type,
            severity: event_type.severity(),
            user_id: None,
            user_email: None,
            ip_address: None,
            user_agent: None,
            request_id: None,
            resource: None,
            action: None,
            result: event_type.result().to_owned(),
            reason: None,
            metadata: Map::new(),
        }
    }

    texts! {
        /// Sets the user.
        user_id;
        /// Sets the user's mail address.
        user_email;
        /// Sets the program of the client.
        user_agent;
        /// Sets the request.
        request_id;
        /// Sets what the event is about.
        resource;
        /// Sets what was to be done.
        action;
        /// Sets why it happened.
        reason;
    }

    /// Sets the severity.
    pub fn severity(mut self, severity: SecuritySeverity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets the address of the client.
    pub fn ip_address(mut self, address: impl Into<IpAddr>) -> Self {
        self.ip_address = Some(address.into());
        self
    }

    /// Sets the outcome.
    pub fn result(mut self, result: impl Into<String>) -> Self {
        self.result = result.into();
        self
    }

    /// Adds further metadata.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}
