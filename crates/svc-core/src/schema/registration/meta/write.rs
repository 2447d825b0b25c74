//! Metadata of mutations that write rows of a table, as registered by the macros.

use super::element::{Check, Place};

/// The effect of a mutation on rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteVerb {
    /// Adds rows.
    Insert,
    /// Changes rows.
    Update,
    /// Adds rows, or changes existing ones.
    Upsert,
    /// Removes rows.
    Delete,
}

/// The selection of the rows that an update or a delete writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChoice {
    /// The arguments select one row.
    Arguments,
    /// The client's filter selects any number of rows.
    Filter {
        /// The maximum number of rows; without it, the maximum page size.
        max_rows: Option<u32>,
        /// Whether the filter may be empty, and so select all rows.
        allows_empty: bool,
    },
}

/// The rows in the return type of a mutation that writes to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenRows {
    /// No rows: a type without a view.
    None,
    /// One row.
    One,
    /// A list of rows.
    List,
    /// The rows in the entity of a result.
    InResult,
}

/// A root field that writes rows of a table.
#[derive(Debug, Clone, Copy)]
pub struct WriteMeta {
    /// The effect on the rows.
    pub verb: WriteVerb,
    /// `table` or `schema.table`.
    pub table: &'static str,
    /// The column that the view exposes as `id`.
    pub key: &'static str,
    /// The columns that identify an existing row.
    pub conflict: &'static [&'static str],
    /// Whether an existing row is changed.
    pub replaces: bool,
    /// The selection of the rows of an update or a delete.
    pub by: RowChoice,
    /// For each argument, whether its Rust type accepts a value.
    pub checks: &'static [Check],
    /// The location of the Rust function.
    pub place: Place,
}

impl WriteMeta {
    /// Checks the arguments against the return type; `lists` specifies for each argument whether it
    /// is a list.
    ///
    /// # Panics
    /// At compile time, if the arguments do not fit the return type.
    #[must_use]
    pub const fn answering(self, lists: &[bool], rows: WrittenRows) -> Self {
        let mut list = false;
        let mut at = 0;
        while at < lists.len() {
            list |= lists[at];
            at += 1;
        }

        let takes_lists = matches!(self.verb, WriteVerb::Insert | WriteVerb::Upsert);
        assert!(
            !matches!(rows, WrittenRows::None),
            "what is written is read again from a view; return `T`, `Option<T>` or `Vec<T>` of an \
             `#[svc_type(sql_source = \"v_…\")]`, or an `#[svc_result]` with one"
        );

        if self.is_by_filter() {
            assert!(
                !list,
                "the client's filter selects the rows; take no lists beside it"
            );
            assert!(
                !matches!(rows, WrittenRows::One),
                "a filter selects any number of rows; return `Vec<T>`"
            );
            return self;
        }

        assert!(
            takes_lists || !list,
            "an update or a delete is of one row; take no lists, or write a function"
        );
        assert!(
            takes_lists || !matches!(rows, WrittenRows::List),
            "an update or a delete is of one row; return `Option<T>`"
        );
        assert!(
            !(list && matches!(rows, WrittenRows::One)),
            "a list is written, so answer with one: return `Vec<T>`"
        );
        assert!(
            list || !matches!(rows, WrittenRows::List),
            "one row is written; return `T`, or take a `Vec` of inputs"
        );

        self
    }

    /// Whether the client's filter selects the rows.
    #[must_use]
    pub const fn is_by_filter(self) -> bool {
        matches!(self.by, RowChoice::Filter { .. })
    }

    /// Whether the client's filter may be empty, if it selects the rows.
    #[must_use]
    pub const fn allows_empty_filter(self) -> bool {
        matches!(
            self.by,
            RowChoice::Filter {
                allows_empty: true,
                ..
            }
        )
    }

    /// The maximum number of rows that the client's filter may select, if it selects them.
    #[must_use]
    pub fn max_rows(self, max_page: u32) -> Option<u32> {
        match self.by {
            RowChoice::Arguments => None,
            RowChoice::Filter { max_rows, .. } => {
                Some(max_rows.map_or(max_page, |most| most.min(max_page)))
            }
        }
    }
}
