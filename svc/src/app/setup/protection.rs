//! Builds the protection of the endpoint from the settings.

use std::sync::Arc;

use crate::app::serve::max_connections;
use crate::app::{ProtectionConfig, SvcConfig};
use crate::http::{
    CrossOriginRules, CsrfProtection, Overload, PendingBodies, PendingBounds, PendingResponses,
    Protection,
};
use crate::rate_limit::AddressRule;
use svc_core::settings::{ConfigError, is_origin};
use svc_telemetry::security_log::Clients;

/// The minimum concurrency limit of load shedding, however slow requests are: it keeps processors
/// and disks busy. With twice as many, requests for rows that take up two processors would take
/// eight times as long as one alone.
const MIN_LIMIT: usize = 8;

/// Builds the protection configured by the settings.
///
/// # Errors
/// The setting that conflicts with the others.
pub(in crate::app) fn protection(
    config: &SvcConfig,
    clients: &Clients,
) -> Result<Arc<Protection>, ConfigError> {
    let settings = &config.protection;
    check_origins(settings)?;
    let ProtectionConfig {
        cors_origins,
        cors_headers,
        cors_credentials,
        cors_max_age,
        ..
    } = settings;

    // Requests wait for connections of the pool, and no connection should be idle.
    let least = MIN_LIMIT.max(usize::try_from(config.database.pool_size).unwrap_or(MIN_LIMIT));

    // Slow bodies must leave connections for other clients, also if the process may open only a few
    // files.
    let most_bodies = (max_connections(config.http.max_connections) / 2).max(1);

    Ok(Arc::new(Protection {
        csrf: settings
            .csrf
            .then(|| CsrfProtection::new(cors_origins, clients.clone())),
        cross_origin: CrossOriginRules::new(
            cors_origins,
            cors_headers,
            *cors_credentials,
            *cors_max_age,
        ),
        #[cfg(feature = "compression")]
        compression: settings
            .compression
            .then_some(settings.compression_min_size),
        request_ids: settings.request_ids,
        overload: settings
            .load_shedding
            .then(|| Overload::new(least, settings.max_in_flight.max(1), settings.shed_after)),
        pending_bodies: PendingBodies::new(PendingBounds {
            bodies: settings.max_bodies.min(most_bodies),
            per_address: settings.max_bodies_per_address,
            // Otherwise a body within the size limit could never arrive.
            bytes: settings.max_bodies_size.max(config.limits.body),
        }),
        unread: PendingResponses::new(settings.max_unread_answers),
        addresses: AddressRule::of(&config.rate_limit),
    }))
}

fn check_origins(settings: &ProtectionConfig) -> Result<(), ConfigError> {
    let name = "SVC_CORS_ORIGINS";
    if let Some(wrong) = settings
        .cors_origins
        .iter()
        .find(|origin| !is_origin(origin))
    {
        return Err(ConfigError::new(
            name,
            wrong.as_str(),
            "it must be an origin such as https://app.example.com",
        ));
    }

    // Browsers reject `*` in responses to requests with credentials (Fetch standard, "CORS protocol
    // and credentials").
    if settings.cors_credentials && settings.cors_origins.iter().any(|origin| origin == "*") {
        return Err(ConfigError::new(
            name,
            "*",
            "it must name the origins where SVC_CORS_CREDENTIALS is on",
        ));
    }

    if settings.compression && cfg!(not(feature = "compression")) {
        let allowed = "it must be false, or the program has to be built with the feature `compression` of svc";
        return Err(ConfigError::new("SVC_COMPRESSION", "true", allowed));
    }

    Ok(())
}
