//! Subscriptions to rows whose channel nothing in the database notifies.

use super::{Finding, Severity};
use svc_core::schema::{EventMeta, FieldKind, Model, Run, TypeKind};
use svc_postgres::Catalog;

/// The subscriptions whose channel no trigger and no function of the database names. They are
/// hints, as programs may notify it.
pub(super) fn silent_channels(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    let objects = model.types.iter().filter_map(|def| match &def.kind {
        TypeKind::Object(object) => Some((def, object)),
        _ => None,
    });
    let fields =
        objects.flat_map(|(def, object)| object.fields.values().map(move |field| (def, field)));
    let silent = fields.filter_map(|(def, field)| {
        let FieldKind::Root(Run::Event(EventMeta { channel, .. }), Some(row), _) = field.kind
        else {
            return None;
        };

        // A missing view is reported elsewhere.
        model.source(row).and_then(|name| catalog.source(name))?;

        catalog.is_silent(channel).then(|| Finding {
            severity: Severity::Hint,
            source: channel.to_owned(),
            field: format!("{}.{}", def.name, field.name),
            cause: format!(
                "no trigger and no function of the database notifies its channel `{channel}`"
            ),
            remedy: format!(
                "make a trigger that calls `svc_notify('{channel}')`, as `svc generate notify --table …` writes one, \
                 or let a function call `pg_notify('{channel}', …)`; if programs notify it, list it in \
                 `AppOptions::event_channels`"
            ),
        })
    });

    silent.collect()
}
