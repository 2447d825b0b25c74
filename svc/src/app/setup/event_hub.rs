//! The hub of an application's events.

use std::sync::Arc;

use crate::app::AppOptions;
use crate::app::config::read_url;
use svc_core::schema::{EventMeta, Run};
use svc_core::settings::{ConfigError, variable};
use svc_engine::events::{EventListener, EventSource, Hub, PostgresEvents};
use svc_engine::response_cache::Responses;
use svc_postgres::{ConnectConfig, Database};

/// Returns the event hub, for the source given by the program, or else for the database configured
/// by `connect`.
///
/// # Errors
/// A channel that cannot be listened to, or a database URL that cannot be read.
pub(in crate::app) fn event_hub(
    options: &mut AppOptions,
    connect: ConnectConfig,
    database: &Arc<Database>,
    responses: Option<&Arc<Responses>>,
) -> Result<Arc<Hub>, ConfigError> {
    options
        .event_channels
        .iter()
        .try_for_each(|channel| check_channel(channel))?;
    let source: Arc<dyn EventSource> = match options.event_source.take() {
        Some(source) => source.into(),
        None => {
            let own = options.config.events.database_url.as_deref();
            let own = own
                .map(|url| read_url("SVC_EVENTS_DATABASE_URL", url, &variable))
                .transpose()?;
            Arc::new(PostgresEvents {
                connect: own.unwrap_or(connect),
                database: database.clone(),
            })
        }
    };

    let queue = usize::try_from(options.config.events.queue).unwrap_or(usize::MAX);
    let of_responses = responses
        .into_iter()
        .flat_map(|responses| responses.channels().map(str::to_owned));
    let channels = channels(options, of_responses);
    let listener = responses.map(|responses| responses.clone() as Arc<dyn EventListener>);

    Ok(Hub::new(source, channels, queue, listener))
}

/// PostgreSQL truncates a longer name in `LISTEN`, and rejects it in `NOTIFY`.
fn check_channel(channel: &str) -> Result<(), ConfigError> {
    match (1..=63).contains(&channel.len()) && !channel.contains('\0') {
        true => Ok(()),
        false => Err(ConfigError::new(
            "event_channels",
            channel,
            "names of 1 to 63 bytes, such as \"said\"",
        )),
    }
}

/// Returns the channels of subscriptions that the database should notify: none if the events have
/// another source, and none that the program also names itself, because it may notify them.
pub(in crate::app) fn database_channels(options: &AppOptions) -> Vec<String> {
    if options.event_source.is_some() {
        return Vec::new();
    }

    let mut channels: Vec<String> = channels_of_rows(options)
        .filter(|channel| !options.event_channels.contains(channel))
        .collect();

    channels.sort_unstable();
    channels.dedup();

    channels
}

/// The channels of subscriptions without a body.
fn channels_of_rows(options: &AppOptions) -> impl Iterator<Item = String> {
    options
        .operations
        .iter()
        .filter_map(|operation| match operation.run {
            Run::Event(EventMeta { channel, .. }) => Some(channel.to_owned()),
            _ => None,
        })
}

/// The channels that the program listens to.
fn channels(options: &AppOptions, others: impl Iterator<Item = String>) -> Vec<String> {
    let mut channels: Vec<String> = options
        .event_channels
        .iter()
        .cloned()
        .chain(channels_of_rows(options))
        .chain(others)
        .collect();

    channels.sort_unstable();
    channels.dedup();

    channels
}
