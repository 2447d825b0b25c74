//! The program's description of itself, which it writes to a file when started with `SVC_DESCRIBE`.

use std::process::Command;

use serde::Deserialize;

use super::Built;
use super::operation::{Limits, Operation};
use crate::failure::{Failure, Result};
use crate::project::Project;

/// The format that this tool supports.
const FORMAT: u32 = 3;

/// A program's own description.
#[derive(Debug, Deserialize)]
pub(crate) struct Description {
    /// The schema in the schema definition language.
    pub(crate) sdl: String,
    pub(crate) counts: Counts,
    /// The column types that fields distinguish; all others are `other`.
    pub(crate) column_types: Vec<String>,
    pub(crate) types: Vec<Type>,
    pub(crate) functions: Vec<Function>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) writes: Vec<Write>,
    /// The registered operations, in any order.
    #[serde(default)]
    pub(crate) operations: Vec<Operation>,
    #[serde(default)]
    pub(crate) limits: Limits,
    /// The findings of a start on the database.
    #[serde(default)]
    pub(crate) findings: Vec<StartFinding>,
    /// The reason why the program cannot use the database.
    #[serde(default)]
    pub(crate) start_error: Option<String>,
}

/// A finding that a service reports at its start.
#[derive(Debug, Deserialize)]
pub(crate) struct StartFinding {
    /// `fault`, or `hint`.
    pub(crate) severity: String,
    /// The view, table or function.
    pub(crate) source: String,
    /// `Query.posts`; empty if it is about the whole view.
    pub(crate) field: String,
    pub(crate) cause: String,
    pub(crate) remedy: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Counts {
    /// Types with rows in a view.
    pub(crate) types: usize,
    pub(crate) inputs: usize,
    pub(crate) schema: usize,
}

impl Description {
    /// The views and tables that the program names, possibly with duplicates.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        let relations = self
            .types
            .iter()
            .flat_map(|ty| &ty.fields)
            .filter_map(|field| field.relation.as_ref());

        let related = relations.flat_map(|relation| {
            relation.source.as_deref().into_iter().chain(
                relation
                    .through
                    .as_ref()
                    .map(|through| through.source.as_str()),
            )
        });

        let written = self.writes.iter().map(|write| write.table.as_str());
        self.types
            .iter()
            .map(|ty| ty.source.as_str())
            .chain(related)
            .chain(written)
    }
}

/// A location in the program's source.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// A type with rows in a view.
#[derive(Debug, Deserialize)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) place: Place,
    pub(crate) source: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) rust: String,
    pub(crate) line: u32,
    /// Whether the program asserts that it is never null.
    pub(crate) non_null: bool,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The column or key with the value; none for a relation.
    pub(crate) stored: Option<String>,
    /// The compatible column types.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) relation: Option<Relation>,
}

impl Field {
    /// Whether it is never null.
    pub(crate) fn is_required(&self) -> bool {
        self.ty.ends_with('!')
    }

    /// The columns or keys that it reads: one, or the keys at the start of a relation.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &str> {
        let keys = self
            .relation
            .iter()
            .flat_map(|relation| relation.from.iter().map(String::as_str));
        self.stored.as_deref().into_iter().chain(keys)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Relation {
    pub(crate) many: bool,
    /// The columns or keys here, and the ones there that they are compared with, in the same order.
    pub(crate) from: Vec<String>,
    pub(crate) to: Vec<String>,
    pub(crate) source: Option<String>,
    /// The join view between them.
    pub(crate) through: Option<Through>,
}

/// A view that joins the keys of a relation.
#[derive(Debug, Deserialize)]
pub(crate) struct Through {
    pub(crate) source: String,
    pub(crate) here: Vec<String>,
    pub(crate) there: Vec<String>,
}

/// A field that calls a function of the database, or reads rows from one.
#[derive(Debug, Deserialize)]
pub(crate) struct Function {
    pub(crate) field: String,
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    /// The view whose row is passed before the arguments.
    pub(crate) row_of: Option<String>,
    /// The view whose rows it returns.
    pub(crate) rows_of: Option<String>,
    /// The types of the arguments in the schema, if they have one.
    #[serde(default)]
    pub(crate) types: Vec<Option<String>>,
}

/// A query with rows from SQL.
#[derive(Debug, Deserialize)]
pub(crate) struct Statement {
    pub(crate) field: String,
    pub(crate) place: Place,
    /// The view whose rows it returns.
    pub(crate) source: String,
    pub(crate) sql: String,
}

/// A table that a mutation writes.
#[derive(Debug, Deserialize)]
pub(crate) struct Write {
    pub(crate) field: String,
    pub(crate) place: Place,
    pub(crate) table: String,
    /// The column with the `id` of the view.
    pub(crate) key: String,
    pub(crate) columns: Vec<WrittenColumn>,
    /// The columns that identify an existing row.
    pub(crate) conflict: Vec<String>,
}

/// A column that a mutation writes, or that it selects a row by.
#[derive(Debug, Deserialize)]
pub(crate) struct WrittenColumn {
    pub(crate) name: String,
    /// The form of its values.
    pub(crate) form: Argument,
}

/// The form of a value passed to a function or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Argument {
    Scalar,
    List,
    Json,
    Null,
}

/// Starts a program to describe itself, including the findings of a start on a database.
pub(crate) fn describe(
    project: &Project,
    program: &Built,
    database: Option<&str>,
) -> Result<Description> {
    // In a file, because the program may print other text to standard output.
    let file = tempfile::NamedTempFile::new().map_err(Failure::io("create a temporary file"))?;
    let output = Command::new(&program.executable)
        .current_dir(project.root())
        .envs(project.settings().map(|(name, value)| (name, value)))
        .env("SVC_DESCRIBE", file.path())
        .envs(database.map(|url| ("SVC_DESCRIBE_DATABASE", url)))
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(Failure::io(format!("run {}", program.executable.display())))?;

    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "the program failed to start:\n{}",
            words.trim_end()
        )));
    }

    let text = std::fs::read_to_string(file.path())
        .map_err(Failure::io("read the program's description"))?;
    if text.is_empty() {
        let failure =
            Failure::new("no app was created: the program exited without calling create_svc_app");
        return Err(failure.hint(
            "its main function must create the app: svc::serve(create_svc_app(options).await?).await",
        ));
    }

    read(&text)
}

fn read(text: &str) -> Result<Description> {
    #[derive(Deserialize)]
    struct Head {
        format: u32,
        svc: String,
    }

    // The head first: another format may have other fields, and its error would not name the
    // version.
    let head: Head = serde_json::from_str(text).map_err(|_| other(None))?;
    if head.format != FORMAT {
        return Err(other(Some(&head.svc)));
    }

    serde_json::from_str(text).map_err(|_| other(Some(&head.svc)))
}

/// Rejects a program whose version, if it reports one, differs from the tool's.
fn other(svc: Option<&str>) -> Failure {
    let tool = env!("CARGO_PKG_VERSION");
    let which = svc.map_or_else(|| "of an unknown version".to_owned(), ToOwned::to_owned);
    let install = svc.map(|svc| {
        format!("install the tool in the program's version: cargo install svc-cli --version {svc}")
    });

    Failure::new(format!(
        "this is svc {tool}, but the program has svc {which}, which is incompatible"
    ))
    .hints(install)
    .hint(format!(
        "or use the tool's version in Cargo.toml: svc = \"={tool}\""
    ))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_program_of_another_version_is_named() {
        let error = read(r#"{"format": 99, "svc": "9.9.9"}"#).unwrap_err();
        assert!(
            error.message().contains("the program has svc 9.9.9"),
            "{}",
            error.message()
        );
    }
}
