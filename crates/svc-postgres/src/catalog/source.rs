//! Views and tables, and the types of their columns.

use ahash::{HashMap, HashSet};

use crate::Oid;

/// A view or table.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name as given by the program.
    pub name: String,
    /// The name for SQL.
    pub quoted: String,
    /// The OID of the view or table with the name. PostgreSQL continues to use the one that a
    /// statement was planned for, even when another one of the same name precedes it in the search
    /// path.
    pub relation: Oid,
    /// Whether the rows are stored rather than computed on each read.
    pub is_table: bool,
    pub columns: HashMap<String, ColumnType>,
    /// The names of the columns, in order.
    pub in_order: Vec<String>,
    /// The columns of each unique index that a row may conflict with, sorted.
    pub(crate) unique: Vec<Vec<String>>,
    /// The expressions that PostgreSQL computes for columns omitted from a statement.
    pub defaults: HashMap<String, String>,
    /// The columns that the service may not read.
    pub denied: HashSet<String>,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// In `pg_type`, underneath any domains.
    pub name: String,
    /// As written in SQL.
    pub sql: String,
    /// The quoted name of the column.
    pub quoted: String,
    /// Whether values with different bytes never sort as equal, unlike `1.0` and `1.00`, or `A` and
    /// `a` in some collations.
    pub is_exact: bool,
    /// Whether its collation is deterministic, comparing texts byte by byte in the end; otherwise
    /// PostgreSQL supports no patterns.
    pub is_deterministic: bool,
    /// The array of the elements' own type, if there is a domain in between.
    pub plain_array: Option<String>,
    /// Whether PostgreSQL computes it for each row and accepts no value: a generated column, or an
    /// identity that is always generated.
    pub is_computed: bool,
    /// Whether PostgreSQL may fail to compute the column for a row.
    pub may_fail: bool,
    /// The declared type, as reported in records.
    pub declared: Oid,
    /// The type underneath any domains, as reported in rows.
    pub base: Oid,
}

impl Source {
    /// Whether it is the view or table with this OID.
    pub(crate) fn is_relation(&self, relation: Oid) -> bool {
        self.relation == relation
    }

    /// The column `data`, if it contains JSON.
    pub fn data(&self) -> Option<&ColumnType> {
        self.columns
            .get("data")
            .filter(|column| matches!(column.name.as_str(), "json" | "jsonb"))
    }
}

impl ColumnType {
    /// The type of a value that is not a column.
    pub(super) fn of_value(name: &str, sql: &str, declared: Oid, base: Oid) -> Self {
        Self {
            name: name.to_owned(),
            sql: sql.to_owned(),
            quoted: String::new(),
            is_exact: false,
            is_deterministic: true,
            plain_array: None,
            is_computed: false,
            may_fail: false,
            declared,
            base,
        }
    }

    /// Whether it is an array, or a domain over one.
    pub fn is_list(&self) -> bool {
        self.plain_array.is_some() || self.sql.ends_with("[]")
    }
}
