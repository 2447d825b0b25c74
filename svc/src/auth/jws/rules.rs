//! The rules for registered claims.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::auth::{AuthError, Claims};

/// The seconds by which the clock of an issuer may be ahead for `iat`. Nothing is gained by a token of the future but
/// that a log-out of all sessions would not end it.
const ISSUED_AHEAD: f64 = 60.0;

/// The rules for the registered claims (RFC 7519, section 4.1).
#[derive(Debug, Clone, Default)]
pub(crate) struct ClaimRules {
    /// The issuer, if it matters.
    pub(crate) issuer: Option<String>,
    /// The audience, if it matters.
    pub(crate) audience: Option<String>,
    /// The difference of clocks that `exp` and `nbf` are forgiven.
    pub(crate) leeway: Duration,
    /// Whether `exp` may be missing, as the token's issuer was asked.
    pub(crate) may_lack_exp: bool,
    /// Whether `iat` is of another clock than this instance's, which may be ahead.
    pub(crate) is_dated_elsewhere: bool,
}

impl ClaimRules {
    /// Checks the claims of a token that was signed.
    pub(crate) fn check(&self, claims: &Claims) -> Result<(), AuthError> {
        if let Some(issuer) = &self.issuer
            && claims.issuer() != Some(issuer)
        {
            return Err(AuthError::invalid("`iss` is not the issuer that is configured"));
        }
        if let Some(audience) = &self.audience
            && !is_for(claims.get("aud"), audience)
        {
            return Err(AuthError::invalid("`aud` does not hold the audience that is configured"));
        }
        if claims.get("cnf").is_some() {
            // RFC 7800: whoever sends it has to prove a key, which a bearer does not.
            return Err(AuthError::invalid("`cnf` binds the token to a key, and it was sent as a bearer token"));
        }
        self.check_times(claims)
    }

    fn check_times(&self, claims: &Claims) -> Result<(), AuthError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let leeway = self.leeway.as_secs_f64();
        let expires = time(claims, "exp")?;
        if expires.is_none() && !self.may_lack_exp {
            return Err(AuthError::invalid("there is no `exp`"));
        }
        if time(claims, "nbf")?.is_some_and(|begins| now + leeway < begins) {
            return Err(AuthError::invalid("its time has not begun: `nbf`"));
        }
        let issued = time(claims, "iat")?.filter(|_| !self.is_dated_elsewhere);
        if issued.is_some_and(|issued| now + leeway + ISSUED_AHEAD < issued) {
            return Err(AuthError::invalid("it was issued in the future: `iat`"));
        }
        // Last, so that only a token that was valid once is called expired.
        if expires.is_some_and(|expires| now >= expires + leeway) { Err(AuthError::TokenExpired) } else { Ok(()) }
    }
}

/// A time (`NumericDate`); one of another type is an error and not a missing one.
fn time(claims: &Claims, name: &str) -> Result<Option<f64>, AuthError> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|seconds| *seconds >= 0.0 && seconds.is_finite()) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(AuthError::invalid(format!("`{name}` is not a number of seconds"))),
        },
    }
}

/// Whether `aud`, one text or several, holds an audience.
pub(in crate::auth) fn is_for(aud: Option<&Value>, audience: &str) -> bool {
    match aud {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(several)) => {
            several.iter().all(Value::is_string) && several.iter().any(|one| one.as_str() == Some(audience))
        }
        _ => false,
    }
}
