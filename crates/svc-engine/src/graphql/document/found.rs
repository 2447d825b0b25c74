//! The document of a request.

use std::sync::Arc;

use super::{Document, SentLiterals};

/// A document for a request.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) document: Arc<Document>,
    /// The literals of the request, if documents with others share the document.
    pub(crate) literals: Option<SentLiterals>,
}

impl Found {
    /// The text of the request.
    pub(crate) fn text(&self) -> &str {
        self.literals
            .as_ref()
            .map_or(&*self.document.text, |sent| &*sent.text.text)
    }

    /// The text of the request, to be kept.
    pub(crate) fn owned_text(&self) -> Arc<str> {
        match &self.literals {
            Some(sent) => sent.text.text.clone(),
            None => self.document.text.clone(),
        }
    }
}

impl From<Arc<Document>> for Found {
    fn from(document: Arc<Document>) -> Self {
        Self {
            document,
            literals: None,
        }
    }
}
