//! The stored operations. The least recently used ones are evicted to make room for others.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;

use ahash::RandomState;
use indexmap::{Equivalent, IndexMap};
use lru::LruCache;

use super::{OperationError, Registered};
use crate::graphql::document::persisted::Hash;

/// The maximum size of all documents and SQL, in bytes.
const CAPACITY: usize = 64 << 20;

/// Operations by the hash of their text, most recently used first.
#[derive(Debug)]
pub(super) struct Store {
    operations: LruCache<Hash, Stored>,
    texts: IndexMap<HashedText<Arc<str>>, Hash, RandomState>,
    /// The hashes that clients may send.
    hashes: HashMap<Hash, Hash>,
    names: HashMap<String, Hash>,
    bytes: usize,
    /// The maximum number of operations.
    most: usize,
}

/// An operation, and the key of its text.
#[derive(Debug)]
struct Stored {
    text: HashedText<Arc<str>>,
    operation: Arc<Registered>,
}

/// A text with its hash. Hashing a long text takes time, so it happens before the store is locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HashedText<T> {
    hash: u64,
    text: T,
}

impl<T: AsRef<str>> HashedText<T> {
    pub(super) fn new(hasher: &RandomState, text: T) -> Self {
        Self {
            hash: hasher.hash_one(text.as_ref()),
            text,
        }
    }
}

impl<T> std::hash::Hash for HashedText<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<HashedText<Arc<str>>> for HashedText<&str> {
    fn equivalent(&self, key: &HashedText<Arc<str>>) -> bool {
        self.hash == key.hash && *self.text == *key.text
    }
}

impl Store {
    pub(super) fn new(most: usize) -> Self {
        Self {
            operations: LruCache::unbounded(),
            texts: IndexMap::default(),
            hashes: HashMap::new(),
            names: HashMap::new(),
            bytes: 0,
            most,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.operations.iter().map(|(_, stored)| &stored.operation)
    }

    pub(super) fn by_text(&mut self, text: &HashedText<&str>) -> Option<Arc<Registered>> {
        Some(
            self.operations
                .get(self.texts.get(text)?)?
                .operation
                .clone(),
        )
    }

    pub(super) fn by_hash(&mut self, hash: &Hash) -> Option<Arc<Registered>> {
        Some(
            self.operations
                .get(self.hashes.get(hash)?)?
                .operation
                .clone(),
        )
    }

    pub(super) fn by_name(&mut self, name: &str) -> Option<Arc<Registered>> {
        Some(
            self.operations
                .get(self.names.get(name)?)?
                .operation
                .clone(),
        )
    }

    /// Checks that an operation can be added without replacing another.
    pub(super) fn check_new(&self, operation: &Registered) -> Result<(), OperationError> {
        let fail = |reason: String| Err(OperationError::new(operation.shown.clone(), reason));
        if let Some(other) = self.operations.peek(&operation.id) {
            return fail(format!(
                "{} has the same text; register it once",
                other.operation.shown
            ));
        }
        self.check_name(operation)
    }

    /// Checks that an operation can be added, possibly replacing the one with the same text.
    pub(super) fn check_name(&self, operation: &Registered) -> Result<(), OperationError> {
        let fail = |reason: String| Err(OperationError::new(operation.shown.clone(), reason));
        if operation.bytes() > CAPACITY {
            return fail(format!(
                "it is larger than all operations together may be ({} MiB)",
                CAPACITY >> 20
            ));
        }

        for name in &operation.names {
            let other = self.names.get(name).filter(|id| **id != operation.id);
            if let Some(Stored {
                operation: other, ..
            }) = other.and_then(|id| self.operations.peek(id))
            {
                return fail(format!(
                    "{} is named `{name}` as well; every name can be given once",
                    other.shown
                ));
            }
        }

        match operation
            .hashes
            .iter()
            .find_map(|hash| self.hashes.get(hash).filter(|id| **id != operation.id))
        {
            Some(_) => fail(
                "another document has its hash; let the manifest have the SHA-256 of each text"
                    .to_owned(),
            ),
            None => Ok(()),
        }
    }

    /// Whether an operation can be added without evicting another.
    pub(super) fn has_room_for(&self, operation: &Registered) -> bool {
        self.operations.len() < self.most && self.bytes + operation.bytes() <= CAPACITY
    }

    /// Adds an operation, and evicts the least recently used ones to make room.
    pub(super) fn put(&mut self, operation: Registered, text: HashedText<Arc<str>>) {
        let id = operation.id;

        // The replaced operation may have other names and hashes, which must not lead to the new
        // one.
        self.remove(&id);

        while !self.has_room_for(&operation) {
            let Some((_, old)) = self.operations.pop_lru() else {
                break;
            };
            self.forget(&old);
        }

        self.bytes += operation.bytes();
        self.texts.insert(text.clone(), id);
        self.hashes
            .extend(operation.hashes.iter().map(|hash| (*hash, id)));
        self.names
            .extend(operation.names.iter().map(|name| (name.clone(), id)));

        self.operations.put(
            id,
            Stored {
                text,
                operation: Arc::new(operation),
            },
        );
    }

    /// Removes an operation, and returns whether it existed.
    pub(super) fn remove(&mut self, id: &Hash) -> bool {
        let removed = self.operations.pop(id);
        if let Some(stored) = &removed {
            self.forget(stored);
        }
        removed.is_some()
    }

    fn forget(&mut self, Stored { text, operation }: &Stored) {
        self.bytes -= operation.bytes();
        self.texts.swap_remove(text);
        for hash in &operation.hashes {
            self.hashes.remove(hash);
        }
        for name in &operation.names {
            self.names.remove(name);
        }
    }
}
