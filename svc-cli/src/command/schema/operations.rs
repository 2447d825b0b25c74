//! Registered operations, and which of them are affected by changes of the schema.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde::{Deserialize, Serialize};

use super::change::{Change, Severity};
use super::usage;
use crate::failure::{Failure, Result};
use crate::terminal;

/// An operation sent by clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operation {
    name: String,
    /// The client that sends it, if the manifest names it.
    client: Option<String>,
    source: String,
    text: String,
}

/// An operation affected by changes.
#[derive(Debug, Serialize)]
pub(super) struct Affected {
    pub(super) name: String,
    pub(super) client: Option<String>,
    pub(super) source: String,
    /// The reasons why it is no longer valid.
    pub(super) errors: Vec<String>,
    /// The breaking and dangerous changes of the elements that it uses.
    pub(super) changes: Vec<Change>,
}

impl Affected {
    /// The highest severity of its changes.
    pub(super) fn severity(&self) -> Option<Severity> {
        if !self.errors.is_empty() {
            return Some(Severity::Breaking);
        }
        self.changes.iter().map(|change| change.severity).min()
    }
}

/// The manifests of persisted operations: Apollo's, and the map from hashes to texts written by
/// Relay and others.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Manifest {
    Apollo { operations: Vec<Entry> },
    Map(BTreeMap<String, String>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: String,
    name: Option<String>,
    body: String,
    client_name: Option<String>,
}

/// Reads a folder or a manifest.
pub(super) fn read(path: &Path) -> Result<Vec<Operation>> {
    let operations = if path.is_dir() {
        read_folder(path)?
    } else {
        read_manifest(path)?
    };

    if operations.is_empty() {
        let failure = Failure::new(format!("{} has no operations", path.display()));
        return Err(
            failure.hint("a folder has .graphql or .gql files, and a manifest a list `operations`")
        );
    }

    Ok(operations)
}

fn read_folder(folder: &Path) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect()
        })
        .map_err(Failure::io(format!("read {}", folder.display())))?;

    paths.sort();

    for path in paths {
        if path.is_dir() {
            operations.extend(read_folder(&path)?);
        } else if path
            .extension()
            .is_some_and(|end| end == "graphql" || end == "gql")
        {
            let text = fs::read_to_string(&path)
                .map_err(Failure::io(format!("read {}", path.display())))?;
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();

            operations.push(Operation {
                name,
                client: None,
                source: path.display().to_string(),
                text,
            });
        }
    }

    Ok(operations)
}

fn read_manifest(path: &Path) -> Result<Vec<Operation>> {
    let text = fs::read_to_string(path).map_err(Failure::io(format!("read {}", path.display())))?;
    let manifest = serde_json::from_str(&text).map_err(|_| {
        Failure::new(format!("{} is not a manifest of operations", path.display()))
            .hint("it is JSON: {\"operations\": [{\"id\": …, \"name\": …, \"body\": …}]}, or {\"HASH\": \"TEXT\"}")
    })?;
    let source = path.display().to_string();
    let operation = |name, client, text| Operation {
        name,
        client,
        source: source.clone(),
        text,
    };

    Ok(match manifest {
        Manifest::Apollo { operations } => operations
            .into_iter()
            .map(|entry| {
                operation(
                    entry.name.unwrap_or(entry.id),
                    entry.client_name,
                    entry.body,
                )
            })
            .collect(),
        Manifest::Map(texts) => texts
            .into_iter()
            .map(|(id, text)| operation(id, None, text))
            .collect(),
    })
}

/// The operations affected by the changes, in their order.
pub(super) fn affected(
    operations: &[Operation],
    old: &Valid<Schema>,
    new: &Valid<Schema>,
    changes: &[Change],
) -> Vec<Affected> {
    let mut affected = Vec::new();
    for operation in operations {
        let Ok(document) =
            ExecutableDocument::parse_and_validate(old, &operation.text, &operation.source)
        else {
            terminal::warning(format_args!(
                "operation {} is not valid for the old schema either",
                operation.name
            ));
            continue;
        };

        let used = usage::coordinates(&document, old);
        let changes = changes
            .iter()
            .filter(|change| change.severity < Severity::Safe);
        let changes: Vec<Change> = changes
            .filter(|change| used.contains(&change.concerns))
            .cloned()
            .collect();

        // Validation also finds what no single change shows, such as fields that cannot be merged.
        let errors =
            match ExecutableDocument::parse_and_validate(new, &operation.text, &operation.source) {
                Ok(_) => Vec::new(),
                Err(invalid) => invalid
                    .errors
                    .iter()
                    .map(|error| error.error.to_string())
                    .collect(),
            };

        if !changes.is_empty() || !errors.is_empty() {
            let Operation { client, source, .. } = operation.clone();
            affected.push(Affected {
                name: name(&document, operation),
                client,
                source,
                errors,
                changes,
            });
        }
    }

    affected
}

/// The name in the document, or else the name from the file or the manifest.
fn name(document: &ExecutableDocument, operation: &Operation) -> String {
    let named = document.operations.named.keys().next();
    named.map_or_else(|| operation.name.clone(), ToString::to_string)
}
