//! Mutations that write rows of a table, as macros register them.

use super::element::{Check, Place};

/// The thing that a mutation does to rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteVerb {
    /// Adds rows.
    Insert,
    /// Changes a row.
    Update,
    /// Adds rows, or changes those that are there.
    Upsert,
    /// Removes a row.
    Delete,
}

/// The rows in the answer of a mutation that writes to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenRows {
    /// Of a type without a view.
    None,
    /// One row.
    One,
    /// Any number.
    List,
    /// Those in the entity of a result.
    InResult,
}

/// A root field that writes rows of a table.
#[derive(Debug, Clone, Copy)]
pub struct WriteMeta {
    /// The thing that is done.
    pub verb: WriteVerb,
    /// `table` or `schema.table`.
    pub table: &'static str,
    /// The column that the view has as `id`.
    pub key: &'static str,
    /// The columns by which a row is there already.
    pub conflict: &'static [&'static str],
    /// Whether a row that is there already is changed.
    pub replaces: bool,
    /// Whether the Rust type of each argument takes a value.
    pub checks: &'static [Check],
    /// The place of the Rust function.
    pub place: Place,
}

impl WriteMeta {
    /// The same mutation, of which `lists` tells the arguments that are lists.
    ///
    /// # Panics
    /// While the program is compiled, where the arguments do not fit the answer.
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
        assert!(takes_lists || !list, "an update or a delete is of one row; take no lists, or write a function");
        assert!(
            takes_lists || !matches!(rows, WrittenRows::List),
            "an update or a delete is of one row; return `Option<T>`"
        );
        assert!(!(list && matches!(rows, WrittenRows::One)), "a list is written, so answer with one: return `Vec<T>`");
        assert!(
            list || !matches!(rows, WrittenRows::List),
            "one row is written; return `T`, or take a `Vec` of inputs"
        );
        self
    }
}
