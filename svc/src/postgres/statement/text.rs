//! The text of a statement.

use std::ops::Deref;
use std::sync::Arc;

use super::Oid;

/// The text of a statement, and the types that its columns must have for its rows to be read as they were meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatementText(Arc<Inner>);

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    sql: Box<str>,
    /// `None` when whoever reads the rows looks at their types.
    types: Option<Box<[Oid]>>,
    /// The types as which it reads values of clients, by the numbers of their placeholders.
    casts: Box<[(usize, String)]>,
}

impl StatementText {
    /// The text of a statement whose columns have these types, if they matter, and which casts values of clients so.
    pub(crate) fn new(sql: String, types: Option<Vec<Oid>>, casts: Vec<(usize, String)>) -> Self {
        Self(Arc::new(Inner { sql: sql.into(), types: types.map(Into::into), casts: casts.into() }))
    }

    /// The bytes that it takes, about.
    pub(crate) fn weight(&self) -> usize {
        let casts = self.0.casts.iter().map(|(_, cast)| size_of::<(usize, String)>() + 16 + cast.len());
        self.0.sql.len() + casts.sum::<usize>()
    }

    /// Returns the types as which it reads values of clients, by the numbers of their placeholders.
    pub(super) fn casts(&self) -> &[(usize, String)] {
        &self.0.casts
    }

    /// The types of the columns, if they matter.
    pub(crate) fn types(&self) -> Option<&[Oid]> {
        self.0.types.as_deref()
    }

    /// Whether columns of these types are what was meant.
    pub(crate) fn fits(&self, types: impl ExactSizeIterator<Item = Oid>) -> bool {
        self.types().is_none_or(|meant| meant.len() == types.len() && meant.iter().copied().eq(types))
    }

    /// Whether both are one text, in one place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for StatementText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.sql
    }
}

impl From<&str> for StatementText {
    fn from(sql: &str) -> Self {
        sql.to_owned().into()
    }
}

impl From<String> for StatementText {
    fn from(sql: String) -> Self {
        Self::new(sql, None, Vec::new())
    }
}
