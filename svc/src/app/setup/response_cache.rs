//! The response cache of an application, from its settings and options.

use std::sync::Arc;

use crate::app::{AppOptions, StartError};
use svc_core::schema::{EventMeta, Model, RootFieldMeta, Run};
use svc_core::settings::ConfigError;
use svc_engine::graphql::{ResponseCache, ResponseKeys};
use svc_engine::response_cache::{Feeds, ResponseCacheConfig, Responses};

impl AppOptions {
    /// Caches responses of queries that declare for how long, as `#[svc::query(cache = 30)]` does.
    /// `SVC_RESPONSE_CACHE` can switch the cache off, and can switch it on for a program that does
    /// not configure it.
    pub fn response_cache(mut self, cache: ResponseCache) -> Self {
        self.response_cache = Some(cache);
        self
    }
}

/// Returns the response cache, if there is one, and the parts that the program adds to its keys.
///
/// # Errors
/// The setting that cannot be used.
pub(in crate::app) fn response_cache(
    model: &Arc<Model>,
    options: &mut AppOptions,
) -> Result<(Option<Arc<Responses>>, ResponseKeys), StartError> {
    let ResponseCacheConfig {
        enabled,
        size,
        max_age,
        ..
    } = options.config.response_cache;

    let is_on = enabled.unwrap_or(options.response_cache.is_some());
    let cache = options.response_cache.take().unwrap_or_default();
    let kept = options
        .operations
        .iter()
        .filter(|operation| operation.rules.cache.is_some());
    let kept = kept
        .map(|operation| operation.path)
        .collect::<Vec<_>>()
        .join(", ");
    if !is_on || kept.is_empty() {
        if !kept.is_empty() {
            tracing::info!(
                operations = kept,
                "these operations have cacheable responses, but the response cache is off; \
                 SVC_RESPONSE_CACHE=true enables it"
            );
        }
        return Ok((None, cache.into_keys(max_age)?));
    }

    // Request data may decide the content of a response: without it in the key, a client could get
    // the response of another.
    if !options.request_data.is_empty() && !cache.has_keys() {
        let allowed = "it must be false, or the program has to say with `.response_cache(ResponseCache::new().key(…))` \
                       what of its request data answers depend on";
        return Err(ConfigError::new("SVC_RESPONSE_CACHE", "true", allowed).into());
    }

    if options.config.database.poll().is_none() {
        tracing::warn!(
            "cached responses outlive changes of views, policies and grants: SVC_CATALOGUE_POLL=0 \
             disables the checks for them"
        );
    }

    let responses = Responses::new(
        model.clone(),
        size << 20,
        feeds(model, &options.operations, &cache),
    );

    let responses = shared(model, options, responses)?;

    Ok((Some(Arc::new(responses)), cache.into_keys(max_age)?))
}

/// The channels that announce row changes: the channels named by the program, and the channels of
/// subscriptions to rows.
fn feeds(model: &Model, operations: &[&'static RootFieldMeta], cache: &ResponseCache) -> Feeds {
    let subscribed = operations
        .iter()
        .filter_map(|operation| match operation.run {
            Run::Event(EventMeta { channel, .. }) => {
                let mut fields = model.fields().filter(|field| field.path == operation.path);
                Some((channel, fields.next()?.ty.named()))
            }
            _ => None,
        });

    let mut feeds = Feeds::new();
    for (channel, index) in subscribed.chain(cache.feeds(model)) {
        feeds.entry(channel.to_owned()).or_default().push(index);
    }

    feeds
}

#[cfg(feature = "redis")]
fn shared(
    model: &Model,
    options: &AppOptions,
    responses: Responses,
) -> Result<Responses, StartError> {
    if !options.config.response_cache.redis {
        return Ok(responses);
    }

    match options.redis_client()? {
        Some(redis) => {
            let shared = svc_engine::response_cache::SharedResponses::new(
                redis,
                model,
                responses.schema_version().clone(),
            );
            Ok(responses.shared_in(shared))
        }
        None => Err(not_shared("it must be false, or SVC_REDIS_URL has to name the Redis").into()),
    }
}

#[cfg(not(feature = "redis"))]
fn shared(_: &Model, options: &AppOptions, responses: Responses) -> Result<Responses, StartError> {
    match options.config.response_cache.redis {
        false => Ok(responses),
        true => Err(not_shared(
            "it must be false, as this build is without Redis; switch on the feature `redis`",
        )
        .into()),
    }
}

fn not_shared(allowed: &str) -> ConfigError {
    ConfigError::new("SVC_RESPONSE_CACHE_REDIS", "true", allowed)
}
