//! Mutations of the rows that a filter selects, and the maximum page size, which bounds them.

use svc_core::schema::{FieldKind, Model, RowChoice, Run};

/// Warns of mutations by filter that cannot write as many rows as they declare, because the maximum
/// page size is smaller.
pub(in crate::app) fn warn_of_row_bounds(model: &Model, max_page: u32) {
    for field in model.fields() {
        let FieldKind::Root(Run::Write(write), ..) = field.kind else {
            continue;
        };

        let RowChoice::Filter { max_rows, .. } = write.by else {
            continue;
        };

        let mutation = field.name.as_str();
        if max_page == 0 {
            tracing::warn!(
                mutation,
                "the mutation cannot write any rows, because SVC_LIMIT_MAX_PAGE is 0"
            );
        } else if let Some(max_rows) = max_rows.filter(|most| *most > max_page) {
            tracing::warn!(
                mutation,
                max_rows,
                max_page,
                "`max_rows` has no effect, because SVC_LIMIT_MAX_PAGE is smaller"
            );
        }
    }
}
