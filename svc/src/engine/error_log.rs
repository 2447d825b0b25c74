//! The log of field errors: bounded for each request.

use uuid::Uuid;

use super::field_error::{FieldError, Logged};
use super::path::Segment;

/// The most lines for the errors of a request; those beyond them are counted in one more.
const LINES: usize = 10;

/// A line's texts are cut to this many characters: keys come from the client, and messages may quote values.
const TEXT: usize = 2_000;

/// A line of the log: errors with the same message and causes.
#[derive(Debug)]
struct Line {
    id: Uuid,
    /// The first of its errors.
    first: usize,
    times: usize,
}

/// Writes what clients do not see of a request's errors to the log. Masked errors get the `errorId` of their line, so
/// that each is found there; equal errors share a line, and those beyond the first lines share the last one.
pub(super) fn log_errors(errors: &mut [FieldError]) {
    let mut lines: Vec<Line> = Vec::new();
    for index in 0..errors.len() {
        let Some(Logged { chain, masked }) = &errors[index].logged else { continue };
        let masked = *masked;
        let known = lines.iter().take(LINES).position(|line| chain_of(&errors[line.first]) == chain);
        let at = known.unwrap_or(lines.len().min(LINES));
        if at == lines.len() {
            lines.push(Line { id: Uuid::new_v4(), first: index, times: 0 });
        }
        lines[at].times += 1;
        if masked {
            let id = lines[at].id.to_string();
            errors[index].extensions.insert("errorId".to_owned(), id.into());
        }
    }
    for (index, line) in lines.iter().enumerate() {
        line.write(&errors[line.first], index == LINES);
    }
}

fn chain_of(error: &FieldError) -> &str {
    error.logged.as_ref().map_or("", |logged| &logged.chain)
}

impl Line {
    fn write(&self, error: &FieldError, is_rest: bool) {
        let (id, times) = (self.id, self.times);
        let path = shown(&error.path);
        let (path, chain) = (cut(&path), cut(chain_of(error)));
        if is_rest {
            tracing::error!(error_id = %id, path, error = chain, times, "more fields failed; this is the first of them");
        } else if times > 1 {
            tracing::error!(error_id = %id, path, error = chain, times, "fields failed alike; this is the first of them");
        } else {
            tracing::error!(error_id = %id, path, error = chain, "a field failed");
        }
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(TEXT).map_or(text, |(end, _)| &text[..end])
}

fn shown(path: &[Segment]) -> String {
    serde_json::to_string(path).unwrap_or_default()
}
