//! The access rules of an application.

use std::sync::Arc;

use super::schema::Schema;
use crate::app::setup::row_policies;
use crate::app::{AppOptions, StartError};
use svc_core::schema::{Model, RootFieldMeta};
use svc_engine::authz::{DynAuthorizer, RowPolicies};

/// The rules of access to operations, fields and rows.
pub(super) struct Policies {
    pub(super) authorizer: Option<Box<dyn DynAuthorizer>>,
    /// The row policies; `None` if there are none.
    pub(super) rows: Option<Arc<RowPolicies>>,
    /// Whether any fields have their own access rules.
    pub(super) decides_fields: bool,
    /// Whether authorizers or row policies may hold on to requests.
    pub(super) shares_requests: bool,
}

impl Policies {
    /// Takes the policies from the options, resolved for the schema. Logs the settings that the
    /// application does not use.
    ///
    /// # Errors
    /// The row policy that cannot be applied.
    pub(super) fn take(options: &mut AppOptions, schema: &Schema) -> Result<Self, StartError> {
        let is_authorized = options.authorizer.is_some() || !options.tried_rules.is_empty();
        let has_own_rules = has_authorizers(&options.operations) || schema.has_checks;
        options.note_unused_settings(is_authorized || has_own_rules);

        let authorizer = options.take_authorizer();
        let rows = row_policies(&schema.model, std::mem::take(&mut options.row_policies))?;
        let rows = (!rows.is_empty()).then(|| Arc::new(rows));

        Ok(Self {
            decides_fields: decides_fields(&schema.model, is_authorized),
            shares_requests: authorizer.is_some() || has_own_rules || rows.is_some(),
            authorizer,
            rows,
        })
    }
}

/// Whether access to any field is decided separately.
fn decides_fields(model: &Model, is_authorized: bool) -> bool {
    let has_rules = || {
        model
            .fields()
            .any(|field| !field.guards.is_empty() || field.is_checked())
    };
    model.has_gates && (is_authorized || has_rules())
}

/// Whether an operation has its own authorizer.
fn has_authorizers(operations: &[&'static RootFieldMeta]) -> bool {
    operations
        .iter()
        .any(|operation| operation.rules.authorizer.is_some())
}
