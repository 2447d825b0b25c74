//! The report of a request's errors to the operators of the service: the log, the error tracker and
//! the security log.

mod log;
mod security;

pub(in crate::graphql) use security::{record_errors, record_late, record_refused};

use log::log_errors;

use crate::graphql::context::ExecutionContext;
use crate::graphql::response::FieldError;

/// Reports errors, including the errors `withheld` from the client behind a null that ends the
/// response. Masked errors get an `errorId`, so that operators can find them.
pub(in crate::graphql) fn report(
    cx: &ExecutionContext<'_>,
    errors: &mut [FieldError],
    withheld: &mut [FieldError],
) {
    if !errors.is_empty() {
        report_all(cx, errors, withheld);
    }
}

#[cold]
#[inline(never)]
fn report_all(cx: &ExecutionContext<'_>, errors: &mut [FieldError], withheld: &mut [FieldError]) {
    log_errors(cx, errors.iter_mut().chain(&mut *withheld));
    record_errors(cx, errors.iter().chain(&*withheld));
}
