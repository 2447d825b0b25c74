//! The condition under which PostgreSQL itself rolls back a call.

use std::sync::OnceLock;

use super::response::{COLUMNS, TELLING};
use super::status::SUCCESS;

/// Lets PostgreSQL detect a failing status, so that a call is rolled back in the round trip that
/// runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatusCheck {
    /// Whether the entity may have a `status` that is not the status of a response.
    pub(crate) entity_has_status: bool,
    /// Whether a null result is a failure.
    pub(crate) refuses_null: bool,
}

impl StatusCheck {
    /// A condition on the JSON in `j`, equivalent to
    /// [`Response::read`](super::response::Response::read) and
    /// [`Status::read`](super::status::Status::read).
    pub(crate) fn sql(self) -> &'static str {
        static SQL: [OnceLock<String>; 4] = [const { OnceLock::new() }; 4];
        let index = usize::from(self.entity_has_status) + 2 * usize::from(self.refuses_null);
        SQL[index].get_or_init(|| self.write_sql())
    }

    fn write_sql(self) -> String {
        let list = |words: &[&str]| {
            words
                .iter()
                .map(|word| format!("'{word}'"))
                .collect::<Vec<_>>()
                .join(", ")
        };

        // `COLLATE "C"` lowers only ASCII letters, like `Status::read`; other collations may lower
        // them differently.
        let mut sql = format!(
            "jsonb_typeof(j) = 'object' AND j ? 'status' AND \
             lower(btrim(coalesce(j->>'status', ''), E' \\t\\n\\r\\x0b\\x0c') COLLATE \"C\") NOT IN ({})",
            list(&SUCCESS)
        );

        if self.entity_has_status {
            let (telling, columns) = (list(&TELLING), list(&COLUMNS));
            sql.push_str(&format!(
                " AND (j ?| ARRAY[{telling}] OR j - ARRAY[{columns}] = '{{}}'::jsonb)"
            ));
        }

        // For a null result the condition is null, which would keep the writes.
        if self.refuses_null {
            format!("coalesce({sql}, true)")
        } else {
            sql
        }
    }
}
