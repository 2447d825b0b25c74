//! An operation that has been checked and prepared.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::fields::check_fields;
use super::parameters::{from_first_word, parameters};
use super::{Operation, OperationError};
use crate::graphql::coerce::VariableDef;
use crate::graphql::document::Document;
use crate::graphql::document::persisted::Hash;
use crate::limits::Limits;
use svc_core::schema::Model;
use svc_postgres::{StatementSubject, StatementText};

/// An operation that clients may request.
#[derive(Debug)]
pub struct Registered {
    pub(crate) document: Arc<Document>,
    /// The names that clients may use for it: its own, or the ids from manifests.
    pub(super) names: Vec<String>,
    pub sql: Option<Sql>,
    /// The hash of its text without white space at the end.
    pub(super) id: Hash,
    /// The hashes of the text as given and without white space at its end, and the ids that are
    /// hashes.
    pub(super) hashes: Vec<Hash>,
    /// Its name in messages.
    pub(super) shown: String,
    /// Whether `shown` is the file with its document.
    pub(super) is_file: bool,
}

/// The statement that answers an operation.
#[derive(Debug)]
pub struct Sql {
    pub(super) text: StatementText,
    /// Whether each parameter occurs in the text; the length is the highest number.
    pub(super) parameters: Vec<bool>,
    /// The operation's name in messages.
    pub(super) operation: String,
}

impl Registered {
    /// Checks and prepares an operation, as far as possible without the database.
    pub(super) fn new(
        model: &Model,
        limits: &Limits,
        operation: Operation,
    ) -> Result<Self, OperationError> {
        let (shown, is_file) = (operation.shown(), operation.is_file());
        let fail = |reason: String| OperationError::new(shown.clone(), reason);
        let text = operation.document.trim_end();
        let document = prepare_document(model, limits, text).map_err(fail)?;

        let (executable, info) = document
            .operation(None)
            .map_err(|error| fail(error.message))?;
        let sql = match operation.sql {
            Some(text) => {
                let name = executable.name.as_deref().unwrap_or("anonymous");
                let sql = Sql::new(text, name, shown.clone());
                sql.check(&info.variables).map_err(fail)?;
                check_fields(model, limits, &document, executable).map_err(fail)?;
                Some(sql)
            }
            None => None,
        };

        let id = Sha256::digest(text).into();
        let mut hashes = vec![id];
        if text.len() != operation.document.len() {
            hashes.push(Sha256::digest(&operation.document).into());
        }

        hashes.extend(
            operation
                .ids
                .iter()
                .filter_map(|id| hash(id))
                .filter(|hash| *hash != id),
        );

        let own = executable
            .name
            .as_ref()
            .filter(|_| operation.ids.is_empty());
        let names = own
            .map(ToString::to_string)
            .into_iter()
            .chain(operation.ids)
            .collect();

        Ok(Self {
            names,
            sql,
            id,
            hashes,
            shown,
            is_file,
            document,
        })
    }

    /// Returns the first name that clients may use for it.
    pub fn name(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// The keys of the root fields that SQL answers.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let executable = &self.document.executable;
        let fields = executable
            .operations
            .iter()
            .flat_map(|operation| operation.root_fields(executable));
        fields
            .filter(|field| !field.name.starts_with("__"))
            .map(|field| field.response_key().as_str())
    }

    /// Returns the size of its texts in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.document.text.len() + self.sql.as_ref().map_or(0, |sql| sql.text.len())
    }
}

/// Returns the valid document of a text with one operation, or why it is refused.
fn prepare_document(model: &Model, limits: &Limits, text: &str) -> Result<Arc<Document>, String> {
    // The errors go to the operator, so suggestions reveal nothing to clients.
    let document = Document::prepare(model, limits, text, true).map_err(|errors| {
        let errors = errors.iter().map(|error| match error.locations.first() {
            Some(at) => {
                format!("{} (line {}, column {})", error.message, at.line, at.column)
            }
            None => error.message.clone(),
        });
        format!(
            "the document is not valid: {}",
            errors.collect::<Vec<_>>().join("; ")
        )
    })?;

    let count = document.executable.operations.iter().count();
    if count != 1 {
        return Err(format!(
            "the document has {count} operations; give each a document of its own"
        ));
    }

    Ok(Arc::new(document.counted_elsewhere()))
}

/// Returns the hash if an id is one, with or without `sha256:`: clients send hashes in both forms.
fn hash(id: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    let digits = id.strip_prefix("sha256:").unwrap_or(id);
    hex::decode_to_slice(digits, &mut hash).ok().map(|()| hash)
}

impl Sql {
    fn new(text: String, name: &str, operation: String) -> Self {
        let subject = StatementSubject {
            kind: "operation",
            name: name.into(),
        };

        let parameters = parameters(&text);
        Self {
            parameters,
            text: StatementText::about(Some(subject), text, None, Vec::new()),
            operation,
        }
    }

    /// Whether it is a `CALL`, whose procedure may commit by itself.
    pub(super) fn calls_procedure(&self) -> bool {
        from_first_word(&self.text)
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case("call"))
    }

    fn check(&self, variables: &[VariableDef]) -> Result<(), String> {
        if from_first_word(&self.text).is_empty() {
            return Err("its SQL is empty; write a statement, or leave it out".to_owned());
        }

        let (used, declared) = (self.parameters.len(), variables.len());
        if used <= declared {
            return Ok(());
        }

        let names: Vec<_> = variables
            .iter()
            .enumerate()
            .map(|(index, variable)| format!("${} is ${}", index + 1, variable.name))
            .collect();

        let known = if names.is_empty() {
            "it declares no variables".to_owned()
        } else {
            names.join(", ")
        };

        Err(format!(
            "its SQL has the parameter ${used}, for which the operation declares no variable ({known})"
        ))
    }
}
