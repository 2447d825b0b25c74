//! The stored operations and responses of an application.

use std::sync::Arc;

use crate::app::setup::response_cache;
use crate::app::{AppOptions, StartError};
use svc_core::schema::Model;
use svc_engine::graphql::{
    OperationRegistry, PersistedQueries, ResponseKeys, read_folder, read_manifests,
};
use svc_engine::limits::Limits;
use svc_engine::response_cache::Responses;

/// The registered and persisted operations, with their limits and cached responses.
pub(super) struct Operations {
    pub(super) limits: Arc<Limits>,
    pub(super) registry: OperationRegistry,
    /// `None` if clients may not send hashes.
    pub(super) persisted: Option<PersistedQueries>,
    /// `None` if no responses are cached.
    pub(super) responses: Option<Arc<Responses>>,
    pub(super) response_keys: ResponseKeys,
}

impl Operations {
    /// Takes the operations and limits from the options.
    ///
    /// # Errors
    /// The setting that cannot be used, or the operations that cannot be registered.
    pub(super) fn take(options: &mut AppOptions, model: &Arc<Model>) -> Result<Self, StartError> {
        let (responses, response_keys) = response_cache(model, options)?;
        let limits = Arc::new(std::mem::take(&mut options.config.limits));
        let registry = register(model, &limits, options)?;

        Ok(Self {
            limits,
            registry,
            persisted: persisted_queries(options)?,
            responses,
            response_keys,
        })
    }
}

/// Registers the operations of the program and of the directory.
fn register(
    model: &Arc<Model>,
    limits: &Arc<Limits>,
    options: &mut AppOptions,
) -> Result<OperationRegistry, StartError> {
    let mut operations = std::mem::take(&mut options.registered);
    if let Some(folder) = &options.config.operations.dir {
        operations.extend(read_folder(folder).map_err(StartError::Operations)?);
    }

    if let Some(place) = &options.config.operations.trusted_documents {
        operations.extend(read_manifests(place).map_err(StartError::Operations)?);
    }

    let most = usize::try_from(options.config.operations.max).unwrap_or(usize::MAX);
    let registry = std::mem::take(&mut options.registry);
    registry
        .start(model, limits, most, operations)
        .map_err(StartError::Operations)?;
    let all = registry.all();
    let with_sql = all
        .iter()
        .filter(|operation| operation.sql.is_some())
        .count();
    if !all.is_empty() {
        tracing::info!(
            operations = all.len(),
            with_sql,
            "operations are registered"
        );
    } else if options.config.operations.registered_only {
        tracing::warn!("only registered operations are accepted, but none are registered yet");
    }

    Ok(registry)
}

/// Returns the store of the documents that clients persist, with Redis behind it if the program
/// shares one; `None` if clients may persist none.
fn persisted_queries(options: &AppOptions) -> Result<Option<PersistedQueries>, StartError> {
    if !options.config.operations.persisted_queries {
        return Ok(None);
    }

    let persisted = PersistedQueries::default();
    #[cfg(feature = "redis")]
    let persisted = match options.redis_client()? {
        Some(redis) => persisted.shared_in(&redis),
        None => persisted,
    };

    Ok(Some(persisted))
}
