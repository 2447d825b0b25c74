//! Validation of the registered claims.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::token::MAX_LEEWAY;
use crate::{AuthError, Claims};

/// The number of seconds that an issuer's clock may be ahead when checking `iat`. A token dated in
/// the future gains only one thing: a log-out of all sessions would not revoke it.
const ISSUED_AHEAD: f64 = 60.0;

/// The rules for the registered claims (RFC 7519, section 4.1).
#[derive(Debug, Clone, Default)]
pub(crate) struct ClaimRules {
    /// The required issuer, if any.
    pub(crate) issuer: Option<String>,
    /// The required audience, if any.
    pub(crate) audience: Option<String>,
    /// The clock skew tolerated when checking `exp` and `nbf`, up to `MAX_LEEWAY`.
    pub(crate) leeway: Duration,
    /// Whether `exp` may be missing, because the issuer itself has confirmed the token.
    pub(crate) may_lack_exp: bool,
    /// Whether `iat` comes from a clock other than this instance's, which may be ahead.
    pub(crate) is_dated_elsewhere: bool,
}

impl ClaimRules {
    /// Checks the claims of a token whose signature is valid.
    pub(crate) fn check(&self, claims: &Claims) -> Result<(), AuthError> {
        if let Some(issuer) = &self.issuer
            && claims.issuer() != Some(issuer)
        {
            return Err(AuthError::invalid(
                "`iss` is not the issuer that is configured",
            ));
        }

        if let Some(audience) = &self.audience
            && !is_for(claims.get("aud"), audience)
        {
            return Err(AuthError::invalid(
                "`aud` does not hold the audience that is configured",
            ));
        }

        if claims.get("cnf").is_some() {
            // RFC 7800: the sender must prove possession of a key, which a bearer token does not
            // do.
            return Err(AuthError::invalid(
                "`cnf` binds the token to a key, and it was sent as a bearer token",
            ));
        }

        self.check_times(claims)
    }

    fn check_times(&self, claims: &Claims) -> Result<(), AuthError> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();

        // After the largest leeway, revocations are forgotten.
        let leeway = self.leeway.min(MAX_LEEWAY).as_secs_f64();
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

        // Checked last, so that only a token that was once valid is reported as expired.
        if expires.is_some_and(|expires| now >= expires + leeway) {
            Err(AuthError::TokenExpired)
        } else {
            Ok(())
        }
    }
}

/// Reads a time (`NumericDate`). A value of another type is an error, not a missing claim.
fn time(claims: &Claims, name: &str) -> Result<Option<f64>, AuthError> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => match value
            .as_f64()
            .filter(|seconds| *seconds >= 0.0 && seconds.is_finite())
        {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(AuthError::invalid(format!(
                "`{name}` is not a number of seconds"
            ))),
        },
    }
}

/// Whether `aud`, a string or a list of strings, contains an audience.
pub(crate) fn is_for(aud: Option<&Value>, audience: &str) -> bool {
    match aud {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(several)) => {
            // A list with a value of another type is malformed (RFC 7519, section 4.1.3), so none
            // of it counts.
            several.iter().all(Value::is_string)
                && several.iter().any(|one| one.as_str() == Some(audience))
        }
        _ => false,
    }
}
