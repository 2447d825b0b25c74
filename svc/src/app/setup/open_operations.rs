//! Operations without access control.

use svc_core::schema::{FieldKind, Model, RootRules};

use crate::app::AppOptions;

/// Warns if no operation of a production service is guarded, unless the program allows that.
pub(in crate::app) fn warn_of_open(model: &Model, options: &AppOptions) {
    let is_guarded =
        options.authorizer.is_some() || options.open_to_everyone || is_auth_required(options);
    if is_guarded || options.config.is_development() {
        return;
    }

    let open = |rules: &RootRules| rules.authorizer.is_none() && rules.guards.is_empty();
    let fields = model.fields().filter_map(|field| match &field.kind {
        FieldKind::Root(_, _, rules) => Some((field.name.as_str(), open(rules))),
        _ => None,
    });
    let (open, guarded): (Vec<_>, Vec<_>) = fields.partition(|(_, is_open)| *is_open);

    if guarded.is_empty() {
        let operations = open
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ");
        tracing::warn!(
            operations,
            "anyone may call these operations; add an authorizer or guards, or call \
             `.open_to_everyone()`"
        );
    }
}

#[cfg(feature = "auth")]
fn is_auth_required(options: &AppOptions) -> bool {
    options.config.auth.required
}

#[cfg(not(feature = "auth"))]
fn is_auth_required(_: &AppOptions) -> bool {
    false
}
