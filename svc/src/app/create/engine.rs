//! The engine of an application.

use std::sync::Arc;

use super::database::OpenDatabase;
use super::operations::Operations;
use super::policies::Policies;
use crate::app::{AppOptions, OperationsConfig};
use svc_core::schema::Model;
use svc_core::settings::MAX_TIMEOUT;
use svc_engine::authz::Gate;
use svc_engine::graphql::{DocumentCache, Engine, RegisteredOnly};
use svc_engine::limits::LimitMode;
use svc_engine::shared_state::{RequestDeadlines, SharedState};
use svc_telemetry::security_log::Clients;

/// Returns the parts that all requests share, with the data of the options.
pub(super) fn shared_state(
    options: &mut AppOptions,
    model: Arc<Model>,
    operations: &Operations,
    opened: &OpenDatabase,
    clients: Clients,
) -> Arc<SharedState> {
    let mut data = std::mem::take(&mut options.data);
    data.insert(std::mem::take(&mut options.context_values));

    Arc::new(SharedState {
        model,
        limits: operations.limits.clone(),
        database: opened.database.clone(),
        data,
        constraints: std::mem::take(&mut options.constraints),
        events: opened.events.clone(),
        responses: operations.responses.clone(),
        deadlines: options.config.request_limit().map(RequestDeadlines::new),
        clients,
    })
}

/// Returns the engine of an application, with the hooks and request data of the options. From now
/// on, authentication has its database.
pub(super) fn engine(
    options: &mut AppOptions,
    app: Arc<SharedState>,
    policies: Policies,
    operations: Operations,
    #[cfg(feature = "auth")] authentication: Option<svc_auth::Authentication>,
) -> Engine {
    let development = options.config.is_development();
    let introspection = options.config.schema.introspection.unwrap_or(development);
    let document_cache = options.config.operations.document_cache_size << 20;
    let session_variables = Arc::new(std::mem::take(&mut options.session_variables));
    #[cfg(feature = "auth")]
    options.user_database.set(&app, &session_variables);

    Engine {
        app,
        request_data: Arc::new(std::mem::take(&mut options.request_data)),
        session_variables,
        development,
        introspection,
        persisted: operations.persisted,
        operations: operations.registry,
        registered_only: registered_only(&options.config.operations),
        #[cfg(feature = "auth")]
        authentication,
        decides_fields: policies.decides_fields,
        shares_requests: policies.shares_requests,
        response_keys: operations.response_keys,
        row_policies: policies.rows,
        gate: Gate::new(
            policies.authorizer,
            options.config.authorization_timeout.min(MAX_TIMEOUT),
        ),
        hooks: std::mem::take(&mut options.hooks),
        documents: DocumentCache::new(document_cache, introspection),
    }
}

fn registered_only(config: &OperationsConfig) -> RegisteredOnly {
    match (config.registered_only, config.registered_only_mode) {
        (false, _) => RegisteredOnly::Off,
        (true, LimitMode::Warn) => RegisteredOnly::Tried,
        (true, _) => RegisteredOnly::Enforced,
    }
}
