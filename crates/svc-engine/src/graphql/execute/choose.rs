//! Selects the document of a request.

use std::sync::Arc;

#[cfg(feature = "redis")]
use futures_util::FutureExt as _;
use sha2::{Digest as _, Sha256};

use super::{Engine, RegisteredOnly, Request};
#[cfg(feature = "redis")]
use crate::graphql::document::persisted::PersistedQueries;
use crate::graphql::document::persisted::{Hash, check_hash, not_supported};
use crate::graphql::document::{Document, DocumentId, Found, SentLiterals};
use crate::graphql::error::RequestError;
use crate::graphql::operations::Registered;
use svc_core::ErrorCode;
use svc_core::exact_json::shorten;
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, record};

/// A document, and its registered operation, if it has one.
pub(crate) struct Chosen {
    pub(crate) document: Arc<Document>,
    /// The literals of the request, if documents with others share the document.
    pub(crate) literals: Option<SentLiterals>,
    pub(crate) operation: Option<Arc<Registered>>,
}

impl Engine {
    /// Returns the document that a request sends or names: a registered one, or any other if those
    /// are allowed.
    pub(super) fn choose(&self, request: &Request<'_>) -> Result<Chosen, Vec<RequestError>> {
        let Request {
            query,
            persisted,
            document_id,
            ..
        } = request;

        let operation = match (document_id, persisted) {
            (None, None) => self.operations.by_text(query),
            _ => self.identified(request)?,
        };

        if let Some(operation) = operation {
            return Ok(Chosen {
                document: operation.document.clone(),
                literals: None,
                operation: Some(operation),
            });
        }

        let found = match document_id {
            Some(id) => self.named(id)?,
            None if self.only_registered() => self.only_about_schema(request)?,
            None => self.sent(query, persisted.as_ref())?,
        };

        if self.registered_only == RegisteredOnly::Tried
            && !(self.introspection && is_meta(&found.document))
        {
            note_unregistered(&found, request);
        }

        Ok(Chosen {
            document: found.document,
            literals: found.literals,
            operation: None,
        })
    }

    /// Returns the registered operation of a request with a hash or an id, which its text must
    /// match. Not inlined, because most requests have neither.
    #[inline(never)]
    fn identified(
        &self,
        request: &Request<'_>,
    ) -> Result<Option<Arc<Registered>>, Vec<RequestError>> {
        let Request {
            query,
            persisted,
            document_id,
            ..
        } = request;

        if let Some(hash) = persisted.as_ref().filter(|_| !query.is_empty()) {
            if self.persisted.is_none()
                && !self.only_registered()
                && self.operations.by_hash(hash).is_none()
            {
                return Err(vec![not_supported()]);
            }
            check_hash(hash, query).map_err(|error| vec![error])?;
        }

        Ok(match (document_id, persisted) {
            (Some(DocumentId::Hash(hash)), _) => self.operations.by_hash(hash),
            (Some(DocumentId::Name(name)), _) => self.operations.by_name(name),
            (None, Some(hash)) if query.is_empty() => self.operations.by_hash(hash),
            _ => self.operations.by_text(query),
        })
    }

    /// Whether documents that are not registered are rejected.
    fn only_registered(&self) -> bool {
        self.registered_only == RegisteredOnly::Enforced
    }

    /// The hash that a request sends instead of its text, if only another instance may have the
    /// document.
    #[cfg(feature = "redis")]
    fn unknown_hash(&self, request: &Request<'_>) -> Option<(&PersistedQueries, Hash)> {
        let hash = match &request.document_id {
            Some(DocumentId::Hash(hash)) => hash,
            _ => request
                .persisted
                .as_ref()
                .filter(|_| request.query.is_empty())?,
        };

        let persisted = self
            .persisted
            .as_ref()
            .filter(|_| !self.only_registered())?;
        let is_unknown = persisted.shared.is_some() && !persisted.knows(hash);
        (is_unknown && self.operations.by_hash(hash).is_none()).then_some((persisted, *hash))
    }

    /// Loads a document that only other instances have.
    #[cfg(feature = "redis")]
    pub(in crate::graphql) async fn learn(&self, request: &Request<'_>) {
        if let Some((shared, hash)) = self.unknown_hash(request) {
            shared.learn(&hash).boxed().await;
        }
    }

    /// Returns a document that a client has persisted, by an id that no operation has.
    fn named(&self, id: &DocumentId) -> Result<Found, Vec<RequestError>> {
        let persisted = self.persisted.as_ref().filter(|_| !self.only_registered());
        match (id, persisted) {
            (DocumentId::Hash(hash), Some(persisted)) => match persisted.text(hash) {
                Ok(text) => self.documents.get(&self.app.model, &self.app.limits, &text),
                Err(_) => Err(vec![unknown()]),
            },
            _ => Err(vec![unknown()]),
        }
    }

    /// Returns a document by its text, by the hash of a text sent before, or by both.
    fn sent(&self, query: &str, hash: Option<&Hash>) -> Result<Found, Vec<RequestError>> {
        let prepare = |text: &str| self.documents.get(&self.app.model, &self.app.limits, text);
        let Some(hash) = hash else {
            return prepare(query);
        };

        let persisted = self
            .persisted
            .as_ref()
            .ok_or_else(|| vec![not_supported()])?;
        if query.is_empty() {
            return prepare(&persisted.text(hash).map_err(|error| vec![error])?);
        }

        // Validated first: texts that no request can run would otherwise displace documents in use.
        let found = prepare(query)?;
        persisted.keep(*hash, || found.owned_text());

        Ok(found)
    }

    /// Returns a document that only reads the schema, the one kind that does not have to be
    /// registered where others must: tools read the schema with it, if introspection is enabled.
    #[cold]
    fn only_about_schema(&self, request: &Request<'_>) -> Result<Found, Vec<RequestError>> {
        if request.query.is_empty() {
            // Clients recognize this message, and send the text next.
            return Err(vec![RequestError::new(
                ErrorCode::PersistedQueryNotFound,
                "PersistedQueryNotFound",
            )]);
        }

        let refused = || {
            let message = "this service answers registered operations only, and this is none; register the document \
                           exactly as it is sent";
            vec![RequestError::new(ErrorCode::Forbidden, message)]
        };

        if !self.introspection {
            return Err(refused());
        }

        let found = self
            .documents
            .get(&self.app.model, &self.app.limits, &request.query)?;

        if is_meta(&found.document) {
            Ok(found)
        } else {
            Err(refused())
        }
    }
}

fn unknown() -> RequestError {
    let message =
        "no document is known by this `documentId`; register it, or send its text in `query`";
    RequestError::new(ErrorCode::PersistedQueryNotFound, message)
}

/// Whether a document selects only meta fields, such as the schema.
fn is_meta(document: &Document) -> bool {
    let executable = &document.executable;
    let mut operations = executable.operations.iter();
    operations.all(|operation| {
        operation
            .root_fields(executable)
            .all(|field| field.name.starts_with("__"))
    })
}

/// Logs which document would be rejected, by its hash, as it would be registered, and by its
/// operation name. Its text is left out, because it may contain data that does not belong in logs.
#[cold]
fn note_unregistered(found: &Found, request: &Request<'_>) {
    let sha256 = hex::encode(Sha256::digest(found.text().trim_end()));
    let operation = found
        .document
        .operation(request.operation_name.as_deref())
        .ok();
    let operation_name = operation
        .and_then(|(operation, _)| operation.name.as_deref())
        .map(shorten);
    let event =
        SecurityEvent::new(SecurityEventType::QueryRegisteredOnlyTried).metadata("sha256", sha256);

    record(
        operation_name
            .into_iter()
            .fold(event, |event, name| event.metadata("operation_name", name)),
    );
}
