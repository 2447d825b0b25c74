//! The types of security events and their severities.

/// The severity of a security event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SecuritySeverity {
    /// Normal behavior.
    Info,
    /// A request was rejected.
    Warning,
    /// An error occurred.
    Error,
    /// An operator should look at it now.
    Critical,
}

impl SecuritySeverity {
    /// Returns its name in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

/// Declares the types: documentation, name, severity and result of each.
macro_rules! event_types {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $severity:ident, $result:literal;)+) => {
        /// The type of a security event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SecurityEventType {
            $($(#[doc = $doc])+ $variant,)+
            /// An event of the program's own, with a name such as `payment.refused`.
            Custom(&'static str),
        }

        impl SecurityEventType {
            /// Returns its name in the log.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Custom(name) => name,
                }
            }

            /// Returns the severity of its events, unless they say another.
            pub fn severity(self) -> SecuritySeverity {
                match self {
                    $(Self::$variant => SecuritySeverity::$severity,)+
                    Self::Custom(_) => SecuritySeverity::Info,
                }
            }

            /// The default result of its events; empty if they have none.
            pub(super) fn result(self) -> &'static str {
                match self {
                    $(Self::$variant => $result,)+
                    Self::Custom(_) => "",
                }
            }
        }

        /// All types except the ones that programs define.
        #[cfg(test)]
        const ALL: &[SecurityEventType] = &[$(SecurityEventType::$variant),+];
    };
}

event_types! {
    /// A user has logged in or registered.
    AuthSuccess = "auth.success", Info, "success";
    /// A client has given a wrong name, password or key.
    AuthFailure = "auth.failure", Warning, "failure";
    /// A token was valid and is no longer.
    AuthTokenExpired = "auth.token_expired", Info, "failure";
    /// A token is not one of this service, was revoked, or was used twice.
    AuthTokenInvalid = "auth.token_invalid", Warning, "failure";
    /// A token, a session, or all tokens of a user were revoked.
    AuthTokenRevoked = "auth.token_revoked", Info, "success";
    /// A user has logged out.
    AuthLogout = "auth.logout", Info, "success";
    /// A user is missing, or lacks a role or a permission that a field requires.
    AuthPermissionDenied = "auth.permission_denied", Warning, "denied";
    /// An authorizer has denied a root field, or has failed.
    AuthzDenied = "authz.denied", Warning, "denied";
    /// A gated field was denied.
    AuthzFieldDenied = "authz.field_denied", Warning, "denied";
    /// A client has asked more often than it may.
    RateLimitExceeded = "rate_limit.exceeded", Warning, "denied";
    /// A client on the blacklist has asked.
    RateLimitRefused = "rate_limit.refused", Warning, "denied";
    /// A form of any site could have sent the request.
    CsrfForm = "csrf.form", Warning, "denied";
    /// Another site has sent the request with the user's cookies or credentials, or wants to open a
    /// socket.
    CsrfForeignOrigin = "csrf.foreign_origin", Warning, "denied";
    /// A page of another site leads to the request, or embeds it.
    CsrfEmbedded = "csrf.embedded", Warning, "denied";
    /// An operation costs more than it may.
    QueryComplexityExceeded = "query.complexity_exceeded", Warning, "denied";
    /// An operation nests deeper than it may.
    QueryDepthExceeded = "query.depth_exceeded", Warning, "denied";
    /// A document, its variables or its answer are larger than they may be.
    QuerySizeExceeded = "query.size_exceeded", Warning, "denied";
    /// An operation has taken longer than it may.
    QueryTimeout = "query.timeout", Warning, "failure";
    /// An operation is over a limit that is tried and not enforced.
    QueryLimitTried = "query.limit_tried", Warning, "success";
    /// A document is not registered, where only registered ones are to be answered and that is
    /// tried.
    QueryRegisteredOnlyTried = "query.registered_only_tried", Warning, "success";
    /// A password or a setting has changed.
    ConfigChanged = "config.changed", Info, "success";
    /// The service has begun to accept connections.
    SystemStarted = "system.started", Info, "success";
    /// The service has stopped.
    SystemStopped = "system.stopped", Info, "success";
    /// The code of the service has panicked.
    SystemPanic = "system.panic", Error, "failure";
    /// Events were lost, as the log could not be written for too long; `metadata.events` counts
    /// them.
    SystemEventsLost = "system.events_lost", Critical, "failure";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    /// The book's table has every type, with its severity.
    #[test]
    fn the_book_has_every_type() {
        let book = include_str!("../../../../docs/security-log.md");
        for event_type in ALL {
            let name = format!("`{}`", event_type.as_str());
            let row = book
                .lines()
                .find(|line| line.starts_with('|') && line.contains(&name));
            let row = row.unwrap_or_else(|| panic!("{name} is missing in docs/security-log.md"));
            assert!(
                row.contains(&format!("| {} |", event_type.severity().as_str())),
                "{row}"
            );
        }
    }
}
