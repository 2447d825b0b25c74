//! The errors beside `data`, which are limited in number and size.

use super::field_error::FieldError;
use super::shown_error;
use crate::graphql::error::{LineIndex, SourceText};

/// The approximate maximum size of the errors in bytes, in addition to twice the length of the
/// document.
const MAX_SIZE: usize = 256 << 10;

/// The errors of a response, up to their limits.
#[derive(Debug)]
pub(crate) struct ShownErrors {
    /// The start of the body, up to `data`; empty without errors.
    pub(super) json: String,
    /// The number of errors, including those beyond the limits.
    pub(super) count: usize,
    /// Whether the limits cut no error off.
    is_complete: bool,
}

impl ShownErrors {
    /// The errors of a response without any.
    pub(crate) const NONE: Self = Self {
        json: String::new(),
        count: 0,
        is_complete: true,
    };

    /// Writes at most `limit` errors of the document `source`.
    pub(crate) fn new(errors: &[FieldError], source: SourceText<'_>, limit: usize) -> Self {
        if errors.is_empty() {
            Self::NONE
        } else {
            Self::of_some(errors, source, limit)
        }
    }

    #[cold]
    #[inline(never)]
    fn of_some(errors: &[FieldError], source: SourceText<'_>, limit: usize) -> Self {
        let lines = LineIndex::new(source.text);

        // The document contains the keys of all root fields once, so this leaves room for an error
        // of each mutation.
        let most = MAX_SIZE + 2 * source.text.len();
        let mut json = String::from("{\"errors\":[");
        let mut shown = 0;

        for error in errors.iter().take(limit) {
            let error = shown_error(error, &lines, source).to_string();
            // Each error repeats the keys of its path, which may be long. The first error is always
            // sent.
            if shown > 0 && json.len() + error.len() > most {
                break;
            }
            json.extend([if shown > 0 { "," } else { "" }, &error]);
            shown += 1;
        }

        json.push_str("],");

        Self {
            json,
            count: errors.len(),
            is_complete: shown == errors.len(),
        }
    }

    /// Whether these errors may have `data` beside them. A client needs the error of each null in a
    /// position that has no other nulls.
    pub(crate) fn explain_data(&self, has_forced_null: bool) -> bool {
        self.is_complete || !has_forced_null
    }
}
