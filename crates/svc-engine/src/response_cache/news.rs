//! Notifications of changes, which instances send each other on a channel of events.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use svc_core::schema::{Model, TypeIndex};

/// The channel. Programs that write to the database in another way can announce changes here too,
/// with `{"types": ["Post"]}`.
pub(super) const CHANNEL: &str = "svc_changed";
/// The maximum size of a payload in bytes; PostgreSQL accepts less than 8,000.
const MAX_PAYLOAD_SIZE: usize = 7_000;

/// The payload on the channel.
#[derive(Serialize, Deserialize)]
struct Payload<'a> {
    /// The sender, which has already invalidated its own responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Uuid>,
    /// The names of the types; absent for all.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    types: Option<Vec<std::borrow::Cow<'a, str>>>,
}

/// The changes that a payload announces.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InvalidationBus {
    /// Changes that this instance has announced itself.
    Own,
    /// Changes of rows of these types.
    Types(Vec<TypeIndex>),
    /// Any changes.
    Everything,
}

impl InvalidationBus {
    /// Parses a payload. A payload that cannot be parsed may announce any change.
    pub(super) fn read(payload: &str, model: &Model, own: Uuid) -> Self {
        let Ok(Payload { from, types }) = serde_json::from_str::<Payload<'_>>(payload) else {
            return Self::Everything;
        };

        match types {
            _ if from == Some(own) => Self::Own,
            None => Self::Everything,
            // Another program on the same database may have types that this one lacks.
            Some(types) => Self::Types(
                types
                    .iter()
                    .filter_map(|name| model.by_name.get(&**name))
                    .copied()
                    .collect(),
            ),
        }
    }

    /// Writes the payload for these types.
    pub(super) fn write(types: &[TypeIndex], model: &Model, own: Uuid) -> String {
        let names = types
            .iter()
            .filter_map(|index| model.types.get(*index))
            .map(|def| def.name.as_str().into());
        let write = |types| {
            serde_json::to_string(&Payload {
                from: Some(own),
                types,
            })
            .unwrap_or_default()
        };

        let text = write(Some(names.collect()));

        // Without names all types count as changed, which costs reads but is never stale.
        if text.len() > MAX_PAYLOAD_SIZE {
            write(None)
        } else {
            text
        }
    }
}
