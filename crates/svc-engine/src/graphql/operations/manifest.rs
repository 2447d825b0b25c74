//! Trusted documents: documents listed by the tools of clients.
//!
//! Two formats are read:
//! - `@apollo/generate-persisted-query-manifest` writes
//!   `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": …, "body": …}]}`.
//! - Relay's compiler and GraphQL Code Generator write `{"<id>": "<document>"}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Operation, OperationError};
use crate::graphql::document::DocumentId;

/// The format named in Apollo's manifests.
const FORMAT: &str = "apollo-persisted-query-manifest";

#[derive(Deserialize)]
#[serde(untagged)]
enum Manifest {
    Apollo {
        format: String,
        version: u64,
        operations: Vec<Listed>,
    },
    ById(BTreeMap<String, String>),
}

/// A document under one of its ids.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) body: String,
}

/// Reads the documents of a manifest, or of all manifests in a folder. A document listed by several
/// manifests becomes one operation with several ids.
///
/// # Errors
/// Every manifest that cannot be read.
pub fn read_manifests(place: &Path) -> Result<Vec<Operation>, Vec<OperationError>> {
    let mut documents: BTreeMap<String, Operation> = BTreeMap::new();
    let mut errors = Vec::new();
    for file in files(place)? {
        let listed = match read(&file) {
            Ok(listed) => listed,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        add(&mut documents, listed, &file.display().to_string());
    }

    if errors.is_empty() {
        Ok(documents.into_values().collect())
    } else {
        Err(errors)
    }
}

/// Adds the documents listed in a file to the documents by text.
pub(super) fn add(documents: &mut BTreeMap<String, Operation>, listed: Vec<Listed>, file: &str) {
    for Listed { id, body } in listed {
        let shown = || format!("{file}: {id}");
        let document = documents
            // Clients are recognized by the text without white space at its end, so these are one
            // operation.
            .entry(body.trim_end().to_owned())
            .or_insert_with(|| Operation::listed(&body, shown()));
        if !document.ids.contains(&id) {
            document.ids.push(id);
        }
    }
}

/// The manifests in a folder, sorted by name, or the single file.
fn files(place: &Path) -> Result<Vec<PathBuf>, Vec<OperationError>> {
    if !place.is_dir() {
        return Ok(vec![place.to_owned()]);
    }

    let entries = std::fs::read_dir(place).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| {
        let reason =
            format!("the folder of manifests cannot be read ({error}); name one that can in `SVC_TRUSTED_DOCUMENTS`");
        vec![OperationError::new(place.display().to_string(), reason)]
    })?;

    let paths = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<_> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();

    if files.is_empty() {
        let reason = "there is no manifest (*.json) in the folder; add one, or leave `SVC_TRUSTED_DOCUMENTS` out";
        return Err(vec![OperationError::new(
            place.display().to_string(),
            reason,
        )]);
    }

    files.sort();

    Ok(files)
}

fn read(file: &Path) -> Result<Vec<Listed>, OperationError> {
    let fail = |reason: String| OperationError::new(file.display().to_string(), reason);
    let text = std::fs::read(file)
        .map_err(|error| fail(format!("the manifest cannot be read ({error})")))?;
    parse(&text).map_err(fail)
}

/// Returns the documents listed in a manifest.
///
/// # Errors
/// The reason why the text is not a valid manifest.
pub(super) fn parse(text: &[u8]) -> Result<Vec<Listed>, String> {
    let listed = match serde_json::from_slice(text) {
        Ok(Manifest::Apollo {
            format,
            version: 1,
            operations,
        }) if format == FORMAT => operations,
        Ok(Manifest::Apollo {
            format, version, ..
        }) => {
            return Err(format!(
                "its format is {format:?} {version}; it must be {FORMAT:?} 1"
            ));
        }
        Ok(Manifest::ById(documents)) => documents
            .into_iter()
            .map(|(id, body)| Listed { id, body })
            .collect(),
        Err(_) => {
            let known = "it must be a manifest of Apollo's, Relay's or GraphQL Code Generator's tools: JSON with documents by \
                         their ids";
            return Err(known.to_owned());
        }
    };

    match listed.iter().find_map(|listed| fault(&listed.id)) {
        Some(fault) => Err(fault),
        None => Ok(listed),
    }
}

/// The reason why clients cannot send an id.
fn fault(id: &str) -> Option<String> {
    if id.is_empty() {
        return Some("a document has an empty id".to_owned());
    }

    let parsed = id.parse::<DocumentId>();
    parsed.err().map(|_| {
        format!(
            "the id `{id}` is not `sha256:` and 64 hexadecimal digits, so clients cannot send it"
        )
    })
}
