//! The registry of operations, which a program can change at run time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ahash::RandomState;

use super::store::{HashedText, Store};
use super::{Operation, OperationError, Registered};
use crate::graphql::document::DocumentId;
use crate::graphql::document::persisted::Hash;
use crate::limits::Limits;
use svc_core::schema::Model;

/// The registered operations of an application, for programs that register operations at run time.
///
/// The registry is a handle: clones share the same operations. Pass one to
/// `AppOptions::operation_registry`, and keep another.
///
/// ```no_run
/// use svc::prelude::*;
/// use svc::{Operation, OperationRegistry};
///
/// # #[svc::query]
/// # fn hello() -> &'static str { "world" }
/// # async fn start() -> svc::Result<()> {
/// let registry = OperationRegistry::new();
/// let options = AppOptions::from_env()?.queries(queries![hello]).operation_registry(registry.clone());
/// let app = create_svc_app(options).await?;
/// registry.register(Operation::new("query Hello { hello }"))?;
/// assert_eq!(registry.len(), 1);
/// # drop(app); Ok(()) }
/// ```
///
/// At most `SVC_MAX_OPERATIONS` operations are kept. Beyond that, the least recently used one is
/// evicted.
#[derive(Clone, Default)]
pub struct OperationRegistry(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Set when an application starts with the registry.
    app: OnceLock<App>,
    /// The number of operations, so that an application without any takes no lock.
    count: AtomicUsize,
}

struct App {
    model: Arc<Model>,
    limits: Arc<Limits>,
    store: Mutex<Store>,
    /// Hashes texts outside of the lock.
    hasher: RandomState,
}

impl OperationRegistry {
    /// Creates a registry that belongs to no application yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an operation; one with the same text is replaced. It is prepared at once, and its
    /// SQL is sent to the database when the operation is first requested.
    ///
    /// # Errors
    /// When the operation is not valid, when another has its name, and before the application has
    /// been created.
    pub fn register(&self, operation: Operation) -> Result<(), OperationError> {
        let Some(app) = self.0.app.get() else {
            let reason = "the registry belongs to no application yet; give it to `AppOptions::operation_registry` and \
                          register after `create_svc_app`, or use `AppOptions::operations`";
            return Err(OperationError::new(operation.shown(), reason));
        };

        let registered = Registered::new(&app.model, &app.limits, operation)?;
        let text = HashedText::new(&app.hasher, registered.document.text.clone());
        self.change(|store| {
            store.check_name(&registered)?;
            store.put(registered, text);
            Ok(())
        })
        .unwrap_or(Ok(()))
    }

    /// Removes the operation with this name, or with this `sha256:…` of its text. Returns whether
    /// it existed.
    pub fn remove(&self, id: &str) -> bool {
        let Ok(id) = id.parse::<DocumentId>() else {
            return false;
        };

        let removed = self.change(|store| {
            let known = match &id {
                DocumentId::Hash(hash) => store.by_hash(hash),
                DocumentId::Name(name) => store.by_name(name),
            };
            known.is_some_and(|operation| store.remove(&operation.id))
        });

        removed.unwrap_or(false)
    }

    /// Returns the number of registered operations.
    pub fn len(&self) -> usize {
        self.0.count.load(Ordering::Acquire)
    }

    /// Whether none is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts with the operations of an application.
    ///
    /// # Errors
    /// Every reason why an operation cannot be registered.
    #[doc(hidden)]
    pub fn start(
        &self,
        model: &Arc<Model>,
        limits: &Arc<Limits>,
        most: usize,
        operations: Vec<Operation>,
    ) -> Result<(), Vec<OperationError>> {
        let (mut store, hasher) = (Store::new(most), RandomState::new());
        let mut errors = Vec::new();
        let given = operations.len();

        for operation in operations {
            let shown = operation.shown();
            let checked = Registered::new(model, limits, operation).and_then(|registered| {
                store.check_new(&registered)?;

                if store.has_room_for(&registered) {
                    let text = HashedText::new(&hasher, registered.document.text.clone());
                    store.put(registered, text);
                    return Ok(());
                }

                let reason = format!(
                    "{given} operations are given, and at most {most} of 64 MiB together are kept; register fewer, or \
                     raise `SVC_MAX_OPERATIONS`"
                );

                Err(OperationError::new(shown, reason))
            });

            errors.extend(checked.err());

            if errors.len() >= limits.errors {
                break;
            }
        }

        if !errors.is_empty() {
            return Err(errors);
        }

        let count = store.len();
        let app = App {
            model: model.clone(),
            limits: limits.clone(),
            store: Mutex::new(store),
            hasher,
        };

        self.0.app.set(app).map_err(|_| {
            let reason = "it belongs to another application already; give each its own";
            vec![OperationError::new("the operation registry", reason)]
        })?;

        // Stored last: a reader that sees the number also finds the operations.
        self.0.count.store(count, Ordering::Release);

        Ok(())
    }

    pub(in crate::graphql) fn by_text(&self, text: &str) -> Option<Arc<Registered>> {
        if self.is_empty() {
            return None;
        }
        let text = HashedText::new(&self.0.app.get()?.hasher, text.trim_end());
        self.look(|store| store.by_text(&text))
    }

    pub(in crate::graphql) fn by_hash(&self, hash: &Hash) -> Option<Arc<Registered>> {
        self.look(|store| store.by_hash(hash))
    }

    pub(in crate::graphql) fn by_name(&self, name: &str) -> Option<Arc<Registered>> {
        self.look(|store| store.by_name(name))
    }

    /// All operations at this moment.
    #[doc(hidden)]
    pub fn all(&self) -> Vec<Arc<Registered>> {
        self.look(|store| Some(store.iter().cloned().collect()))
            .unwrap_or_default()
    }

    fn look<T>(&self, look: impl FnOnce(&mut Store) -> Option<T>) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.change(look).flatten()
    }

    /// Runs `change` with the lock, which is held only for lookups and changes of maps that cannot
    /// panic. Returns `None` without an application.
    fn change<T>(&self, change: impl FnOnce(&mut Store) -> T) -> Option<T> {
        let app = self.0.app.get()?;
        let mut store = app.store.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut store);
        self.0.count.store(store.len(), Ordering::Release);
        Some(result)
    }
}

impl std::fmt::Debug for OperationRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationRegistry")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
