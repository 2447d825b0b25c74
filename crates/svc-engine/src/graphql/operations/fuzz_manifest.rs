//! Any bytes as a manifest of trusted documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::OperationRegistry;
use super::manifest::{add, parse};
use crate::graphql::document::DocumentId;
use crate::limits::Limits;
use svc_core::schema::Model;

/// Registers the documents listed in a manifest. If all of them can be registered, each id leads to
/// its document, and so does the text of each document.
pub fn fuzz_manifest(model: &Arc<Model>, bytes: &[u8]) {
    let Ok(listed) = parse(bytes) else { return };
    let mut documents = BTreeMap::new();
    add(&mut documents, listed.clone(), "fuzzed");
    let count = documents.len();
    let registry = OperationRegistry::new();
    let operations = documents.into_values().collect();

    if registry
        .start(model, &Arc::new(Limits::default()), count, operations)
        .is_err()
    {
        return;
    }

    assert_eq!(registry.len(), count);

    for listed in listed {
        let found = match listed.id.parse().expect("an id that clients can send") {
            DocumentId::Name(name) => registry.by_name(&name),
            DocumentId::Hash(hash) => registry.by_hash(&hash),
        };

        let found = found.map(|operation| operation.document.text.to_string());
        assert_eq!(
            found.as_deref(),
            Some(listed.body.trim_end()),
            "the document of {:?}",
            listed.id
        );

        assert!(
            registry.by_text(&listed.body).is_some(),
            "the document of {:?} by its text",
            listed.id
        );
    }
}
