//! Views and tables, and the types of their columns.

use ahash::{HashMap, HashSet};

use crate::postgres::Oid;

/// A view or table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The name as given by the program.
    pub(crate) name: String,
    /// The name for SQL.
    pub(crate) quoted: String,
    /// The OID of the view or table with the name. PostgreSQL continues to use the one that a
    /// statement was planned for, even when another one of the same name precedes it in the search
    /// path.
    pub(in crate::postgres) relation: Oid,
    /// Whether the rows are stored rather than computed on each read.
    pub(crate) is_table: bool,
    pub(crate) columns: HashMap<String, ColumnType>,
    /// The names of the columns, in order.
    pub(crate) in_order: Vec<String>,
    /// The columns of each unique index that a row may conflict with, sorted.
    pub(crate) unique: Vec<Vec<String>>,
    /// The expressions that PostgreSQL computes for columns omitted from a statement.
    pub(crate) defaults: HashMap<String, String>,
    /// The columns that the service may not read.
    pub(crate) denied: HashSet<String>,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnType {
    /// In `pg_type`, underneath any domains.
    pub(crate) name: String,
    /// As written in SQL.
    pub(crate) sql: String,
    /// The quoted name of the column.
    pub(crate) quoted: String,
    /// Whether values with different bytes never sort as equal, unlike `1.0` and `1.00`, or `A` and
    /// `a` in some collations.
    pub(crate) is_exact: bool,
    /// Whether its collation is deterministic, comparing texts byte by byte in the end; otherwise
    /// PostgreSQL supports no patterns.
    pub(crate) is_deterministic: bool,
    /// The array of the elements' own type, if there is a domain in between.
    pub(crate) plain_array: Option<String>,
    /// Whether PostgreSQL computes it for each row and accepts no value: a generated column, or an
    /// identity that is always generated.
    pub(crate) is_computed: bool,
    /// Whether PostgreSQL may fail to compute the column for a row.
    pub(crate) may_fail: bool,
    /// The declared type, as reported in records.
    pub(crate) declared: Oid,
    /// The type underneath any domains, as reported in rows.
    pub(crate) base: Oid,
}

impl Source {
    /// Whether it is the view or table with this OID.
    pub(crate) fn is_relation(&self, relation: Oid) -> bool {
        self.relation == relation
    }

    /// The column `data`, if it contains JSON.
    pub(crate) fn data(&self) -> Option<&ColumnType> {
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
    pub(crate) fn is_list(&self) -> bool {
        self.plain_array.is_some() || self.sql.ends_with("[]")
    }
}
