//! Operations from files: `name.graphql`, and its SQL in `name.sql`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Operation, OperationError};

/// The maximum depth of nested folders.
const DEPTH: usize = 32;

/// Reads the operations from all files below a folder, in the order of their paths. Other file
/// types and names that start with a dot are ignored.
///
/// # Errors
/// Every file that cannot be read, and statements without an operation.
pub fn read_folder(folder: &Path) -> Result<Vec<Operation>, Vec<OperationError>> {
    let mut files = BTreeMap::new();
    let mut errors = Vec::new();
    find(folder, DEPTH, &mut files, &mut errors);
    let mut operations = Vec::new();
    for (stem, Files { documents, sql }) in files {
        match (documents.as_slice(), sql) {
            ([document], sql) => match read(document, sql.as_deref()) {
                Ok(operation) => operations.push(operation),
                Err(error) => errors.push(error),
            },
            ([], Some(sql)) => {
                let reason = format!(
                    "it belongs to no operation; add `{}.graphql`, or remove it",
                    stem.display()
                );
                errors.push(OperationError::new(sql.display().to_string(), reason));
            }
            (documents, _) => errors.extend(documents.get(1).map(|second| {
                let reason = format!(
                    "`{}` is there as well; keep one of them",
                    documents[0].display()
                );
                OperationError::new(second.display().to_string(), reason)
            })),
        }
    }

    if errors.is_empty() {
        Ok(operations)
    } else {
        Err(errors)
    }
}

/// The files with the same name, apart from the extension.
#[derive(Default)]
struct Files {
    documents: Vec<PathBuf>,
    sql: Option<PathBuf>,
}

fn find(
    folder: &Path,
    depth: usize,
    files: &mut BTreeMap<PathBuf, Files>,
    errors: &mut Vec<OperationError>,
) {
    let shown = folder.display().to_string();
    if depth == 0 {
        errors.push(OperationError::new(
            shown,
            format!("folders nest more than {DEPTH} deep; move it up"),
        ));
        return;
    }

    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            let reason = format!(
                "the folder of operations cannot be read ({error}); name one that can with `SVC_OPERATIONS_DIR` or \
                 `.operations_dir(…)`, or leave it out"
            );
            errors.push(OperationError::new(shown, reason));
            return;
        }
    };

    entries.sort_by_key(std::fs::DirEntry::file_name);

    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }

        // Links to files are followed, because mounted configuration uses them. Links to folders
        // are not, because they could form a cycle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&path, depth - 1, files, errors);
            continue;
        }

        let stem = path.with_extension("");

        match path.extension().and_then(|extension| extension.to_str()) {
            Some("graphql" | "gql") => files.entry(stem).or_default().documents.push(path),
            Some("sql") => files.entry(stem).or_default().sql = Some(path),
            _ => {}
        }
    }
}

fn read(document: &Path, sql: Option<&Path>) -> Result<Operation, OperationError> {
    let text = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            let reason = format!("the file cannot be read ({error}); it has to be text in UTF-8");
            OperationError::new(path.display().to_string(), reason)
        })
    };

    let mut operation = Operation::new(text(document)?);
    operation.sql = sql.map(text).transpose()?;
    operation.file = Some(document.display().to_string());

    Ok(operation)
}
