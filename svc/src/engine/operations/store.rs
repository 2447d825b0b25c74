//! The operations that are kept: those that were not used for long make room for others.

use std::collections::HashMap;
use std::sync::Arc;

use lru::LruCache;

use super::{OperationError, Registered};
use crate::engine::persisted::Hash;

/// What may be kept: bytes of documents and SQL.
const CAPACITY: usize = 64 << 20;

/// Operations by their text; the one that was used last comes first.
#[derive(Debug)]
pub(super) struct Store {
    operations: LruCache<Arc<str>, Arc<Registered>>,
    hashes: HashMap<Hash, Arc<str>>,
    names: HashMap<String, Arc<str>>,
    bytes: usize,
    /// The most operations.
    most: usize,
}

impl Store {
    pub(super) fn new(most: usize) -> Self {
        Self { operations: LruCache::unbounded(), hashes: HashMap::new(), names: HashMap::new(), bytes: 0, most }
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.operations.iter().map(|(_, operation)| operation)
    }

    pub(super) fn by_text(&mut self, text: &str) -> Option<Arc<Registered>> {
        self.operations.get(text.trim_end()).cloned()
    }

    pub(super) fn by_hash(&mut self, hash: &Hash) -> Option<Arc<Registered>> {
        self.operations.get(self.hashes.get(hash)?).cloned()
    }

    pub(super) fn by_name(&mut self, name: &str) -> Option<Arc<Registered>> {
        self.operations.get(self.names.get(name)?).cloned()
    }

    /// What keeps an operation from being added beside the others.
    pub(super) fn check_new(&self, operation: &Registered) -> Result<(), OperationError> {
        let fail = |reason: String| Err(OperationError::new(operation.shown.clone(), reason));
        if let Some(other) = self.operations.peek(&operation.document.text) {
            return fail(format!("{} has the same text; register it once", other.shown));
        }
        self.check_name(operation)
    }

    /// What keeps an operation from being added, perhaps in the place of the one with the same text.
    pub(super) fn check_name(&self, operation: &Registered) -> Result<(), OperationError> {
        let fail = |reason: String| Err(OperationError::new(operation.shown.clone(), reason));
        if operation.bytes() > CAPACITY {
            return fail(format!("it is larger than all operations together may be ({} MiB)", CAPACITY >> 20));
        }
        let Some(name) = &operation.name else { return Ok(()) };
        let other = self.names.get(name).filter(|text| **text != operation.document.text);
        match other.and_then(|text| self.operations.peek(text)) {
            Some(other) => fail(format!("{} is named `{name}` as well; every name can be given once", other.shown)),
            None => Ok(()),
        }
    }

    /// Whether one more would push another out.
    pub(super) fn has_room_for(&self, operation: &Registered) -> bool {
        self.operations.len() < self.most && self.bytes + operation.bytes() <= CAPACITY
    }

    /// Adds an operation; those that were used least recently make room.
    pub(super) fn put(&mut self, operation: Registered) {
        self.remove(&operation.document.text.clone());
        while !self.has_room_for(&operation) {
            let Some((_, old)) = self.operations.pop_lru() else { break };
            self.forget(&old);
        }
        let text = operation.document.text.clone();
        self.bytes += operation.bytes();
        self.hashes.extend(operation.hashes.iter().map(|hash| (*hash, text.clone())));
        self.names.extend(operation.name.iter().map(|name| (name.clone(), text.clone())));
        self.operations.put(text, Arc::new(operation));
    }

    /// Removes the operation with this text; whether there was one.
    pub(super) fn remove(&mut self, text: &str) -> bool {
        let removed = self.operations.pop(text);
        if let Some(operation) = &removed {
            self.forget(operation);
        }
        removed.is_some()
    }

    fn forget(&mut self, operation: &Registered) {
        self.bytes -= operation.bytes();
        for hash in &operation.hashes {
            self.hashes.remove(hash);
        }
        if let Some(name) = &operation.name {
            self.names.remove(name);
        }
    }
}
