//! A statement: its text and its bound values.

mod identifier;
mod many;
mod pattern;
mod probe;
pub(super) mod recorder;
mod rows;
mod text;

pub use identifier::{quote, quote_literal};
pub(super) use identifier::{quote_path, quoted};
pub use pattern::PatternLanguage;
pub use probe::Probe;
#[cfg(test)]
pub(super) use rows::Raw;
pub use rows::{RowSink, Rows, cell};
pub(crate) use text::Running;
pub use text::{StatementSubject, StatementText};

use svc_core::exact_json::ExactJson;

/// The OID of a type in `pg_type`.
pub type Oid = u32;

/// A statement with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub text: StatementText,
    pub params: Vec<Param>,
    /// Whether the best plan depends on the values, as for ranges and patterns; PostgreSQL then
    /// plans on each run.
    pub replan: bool,
    /// Whether it leaves no lasting effects in the session.
    pub keeps_session: bool,
}

/// A bound value.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    Text(String),
    /// A text that PostgreSQL parses as a pattern.
    Pattern(PatternLanguage, String),
    /// A key from a cursor, which may be forged.
    CursorKey(String),
    Texts(Vec<String>),
    Int(i64),
    /// Parsed as the type that PostgreSQL infers for the parameter.
    Variable(ExactJson),
}

impl Param {
    /// The name of the type that it is bound as.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Pattern(..) | Self::CursorKey(_) => "text",
            Self::Texts(_) => "text[]",
            Self::Int(_) => "bigint",
            Self::Variable(_) => "unknown",
        }
    }
}

impl Statement {
    /// A hand-written statement.
    pub fn new(text: impl Into<StatementText>, params: Vec<Param>) -> Self {
        Self {
            text: text.into(),
            params,
            replan: false,
            keeps_session: false,
        }
    }
}
