//! The report of a request's errors to the operators of the service: the log, the error tracker and
//! the security log.

use super::error_log::log_errors;
use super::execution_context::ExecutionContext;
use super::field_error::FieldError;
use super::security_events::record_errors;

/// Reports errors, including the errors `withheld` from the client behind a null that ends the
/// response. Masked errors get an `errorId`, so that operators can find them.
pub(super) fn report(
    cx: &ExecutionContext<'_>,
    errors: &mut [FieldError],
    withheld: &mut [FieldError],
) {
    if errors.is_empty() {
        return;
    }
    log_errors(cx, errors.iter_mut().chain(&mut *withheld));
    record_errors(cx, errors.iter().chain(&*withheld));
}
