//! The effect of a failed mutation, as reported in its errors: whether its writes are kept.

use super::field_error::FieldError;
use svc_core::ErrorCode;
use svc_core::error::Origin;
use svc_core::error::sqlstate::RETRYABLE;
use svc_postgres::Effect;

/// The key of the effect in the `extensions` of each error of a mutation.
const KEY: &str = "mutation";

/// The suffixes of database errors that describe the effect; they are replaced by the wording used
/// here.
const SAID: [&str; 3] = [
    "; what was asked may have been done, or not",
    "; nothing was done",
    "; try again",
];

/// Adds the effect to the errors of a mutation's field. A code that clients may take as a
/// reason to retry the mutation stays only if nothing was done.
pub(crate) fn mark_effect(effect: Effect, errors: &mut [FieldError]) {
    for error in errors {
        if error.extensions.contains_key(KEY) {
            continue;
        }

        error
            .extensions
            .insert(KEY.to_owned(), effect.as_str().into());

        // Failures that a function declared keep their wording.
        let invites = error.invites_retry() && !error.extensions.contains_key("errors");

        // The program's own errors keep theirs too; without `retryable` they do not invite
        // another try.
        let is_in_vain = effect != Effect::NotDone && error.extensions.remove(RETRYABLE).is_some();

        if invites || (is_in_vain && error.origin == Origin::Passing) {
            reword(effect, error);
        }
    }
}

fn reword(effect: Effect, error: &mut FieldError) {
    let masked = error.is_masked();
    let said = SAID
        .iter()
        .find_map(|said| error.message.strip_suffix(said))
        .unwrap_or(&error.message);
    let (code, message) = match effect {
        Effect::NotDone if masked => return,
        Effect::NotDone => (None, format!("{said}; the mutation was not done")),
        Effect::Done if masked => (
            Some(ErrorCode::NotRead),
            "the mutation is done, but its answer could not be read".to_owned(),
        ),
        Effect::Done => (
            Some(ErrorCode::NotRead),
            format!("the mutation is done, but its answer could not be read: {said}"),
        ),
        Effect::Unknown if masked => (
            Some(ErrorCode::OutcomeUnknown),
            "the mutation may have been done, or not".to_owned(),
        ),
        Effect::Unknown => (
            Some(ErrorCode::OutcomeUnknown),
            format!("{said}; the mutation may have been done, or not"),
        ),
    };

    error.message = message.into();

    if let Some(code) = code {
        error.code = code.as_str().into();
    }
}
