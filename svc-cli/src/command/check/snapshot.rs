//! The check's view of the database, read from a database or from the snapshot file.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use super::nulls::Nulls;
use crate::failure::{Failure, Result};
use crate::project::Project;

/// The file, which should be committed.
pub(super) const FILE: &str = "svc.schema.json";

/// The format of the file; other formats are rejected.
const FORMAT: u32 = 2;

/// Views, tables and functions by `schema.name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    format: u32,
    /// The schemas to search for unqualified names.
    search_path: Vec<String>,
    pub(super) relations: BTreeMap<String, Relation>,
    functions: BTreeMap<String, Vec<Function>>,
    /// The SQL of queries, with its results.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) statements: BTreeMap<String, Given>,
}

/// The columns that a statement returns, or the reason why it is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Given {
    /// Columns and their types.
    Columns(BTreeMap<String, String>),
    /// Rejected, for this reason.
    Refused(String),
}

/// A view or a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Relation {
    pub(super) columns: BTreeMap<String, Column>,
    /// The keys of `data`, if they could be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keys: Option<Keys>,
    /// The columns of each unique index that a row may conflict with, sorted; empty for a view.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unique: Vec<Vec<String>>,
    /// Whether it is a table, with its indexes recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_table: bool,
}

impl Relation {
    /// Whether it has documents.
    pub(super) fn has_data(&self) -> bool {
        self.columns
            .get("data")
            .is_some_and(|column| column.ty == "json" || column.ty == "jsonb")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Column {
    /// The type that rows are read as: for a domain, its base type.
    #[serde(rename = "type")]
    pub(super) ty: String,
    pub(super) nulls: Nulls,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Keys {
    /// The keys of every row, from the definition of the view.
    Defined(BTreeMap<String, Nulls>),
    /// The keys of one row that was read.
    Seen(Vec<String>),
}

/// A function that a field may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Function {
    /// `f` for a function, `p` for a procedure.
    pub(super) kind: String,
    pub(super) parameters: Vec<Parameter>,
    /// The number of trailing parameters with a default.
    pub(super) defaults: usize,
    pub(super) returns: String,
    /// Whether it returns a set of rows.
    pub(super) gives_set: bool,
    /// Whether it may write, or return different results for the same arguments.
    pub(super) is_volatile: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parameter {
    #[serde(rename = "type")]
    pub(super) ty: String,
    /// The base type of a domain, by its name in the catalog.
    pub(super) base: String,
}

impl Snapshot {
    pub(super) fn new(
        search_path: Vec<String>,
        relations: BTreeMap<String, Relation>,
        functions: BTreeMap<String, Vec<Function>>,
    ) -> Self {
        Self {
            format: FORMAT,
            search_path,
            relations,
            functions,
            statements: BTreeMap::new(),
        }
    }

    /// Whether it has no view, table or function of the project, as before the first migration.
    pub(super) fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.functions.is_empty()
    }

    /// The view or table with a name, with or without its schema.
    pub(super) fn relation(&self, name: &str) -> Option<&Relation> {
        self.find(&self.relations, name)
    }

    /// The functions with a name.
    pub(super) fn functions(&self, name: &str) -> &[Function] {
        self.find(&self.functions, name).map_or(&[], Vec::as_slice)
    }

    /// Records the keys of a row.
    pub(super) fn see(&mut self, name: &str, keys: Option<Vec<String>>) {
        let found = self
            .paths(name)
            .into_iter()
            .find(|path| self.relations.contains_key(path));
        if let Some(relation) = found.and_then(|path| self.relations.get_mut(&path)) {
            relation.keys = keys.map(Keys::Seen);
        }
    }

    fn find<'a, T>(&self, among: &'a BTreeMap<String, T>, name: &str) -> Option<&'a T> {
        self.paths(name).iter().find_map(|path| among.get(path))
    }

    /// The qualified names that a name may refer to.
    fn paths(&self, name: &str) -> Vec<String> {
        if name.contains('.') {
            return vec![name.to_owned()];
        }

        // In the order of the search path, of which PostgreSQL takes the first match.
        self.search_path
            .iter()
            .map(|schema| format!("{schema}.{name}"))
            .collect()
    }

    /// Reads the project's snapshot file.
    pub(super) fn read(project: &Project) -> Result<Self> {
        let hint = "write it where the database is available: svc check --update";
        let path = project.root().join(FILE);
        if !path.is_file() {
            return Err(Failure::new(format!("{FILE} does not exist")).hint(hint));
        }

        let text = fs::read_to_string(&path).map_err(Failure::io(format_args!("read {FILE}")))?;
        let bad = |why: String| Failure::new(format!("{FILE} cannot be used: {why}")).hint(hint);

        // The format first: a file of another version may lack fields, and the error should name
        // the version.
        let found: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;

        if found["format"] != FORMAT {
            return Err(bad("another version of svc wrote it".to_owned()));
        }

        serde_json::from_value(found).map_err(|error| bad(error.to_string()))
    }

    /// Writes the project's snapshot file.
    pub(super) fn write(&self, project: &Project) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::new(format!("the database cannot be described: {error}")))?;
        fs::write(project.root().join(FILE), text + "\n")
            .map_err(Failure::io(format_args!("write {FILE}")))
    }
}
