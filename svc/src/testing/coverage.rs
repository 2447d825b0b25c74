//! The rules for each operation and field of a schema.

use std::collections::HashSet;

use crate::AppOptions;
use svc_core::Result;
use svc_core::schema::{FieldDef, FieldKind, TypeDef, TypeKind};

/// The operations and fields of a schema, with the rules for each.
#[derive(Debug, Clone)]
pub struct Coverage {
    covered: Vec<Covered>,
}

/// An operation or a field, with its rules.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// Its coordinate in the schema, such as `Query.posts` or `User.email`.
    pub coordinate: String,
    /// The rules that decide about it; empty if it is open.
    pub rules: Vec<String>,
    /// Whether the matrix has a case for it.
    pub is_tested: bool,
}

impl Coverage {
    /// Returns the coverage of a schema. Only the program's own types are included.
    ///
    /// # Errors
    /// Fails if the schema cannot be served.
    pub fn of(options: &AppOptions) -> Result<Self> {
        let (model, is_authorized) = (options.model()?, options.has_authorizer());
        let own: HashSet<_> = model.by_rust.values().copied().collect();
        let is_root =
            |def: &TypeDef| matches!(def.name.as_str(), "Query" | "Mutation" | "Subscription");
        let defs = model
            .types
            .iter()
            .enumerate()
            .filter(|(index, def)| own.contains(index) || is_root(def));

        let mut covered: Vec<_> = defs
            .flat_map(|(_, def)| of_type(def, is_authorized))
            .collect();
        covered.sort_by_key(|covered| !covered.is_operation());

        Ok(Self { covered })
    }

    /// Returns all operations, then all fields.
    pub fn all(&self) -> &[Covered] {
        &self.covered
    }

    /// Returns the operations and fields without a rule.
    pub fn open(&self) -> impl Iterator<Item = &Covered> {
        self.covered
            .iter()
            .filter(|covered| covered.rules.is_empty())
    }

    /// Returns the operations and fields with a rule but without a case.
    pub fn untested(&self) -> impl Iterator<Item = &Covered> {
        self.covered
            .iter()
            .filter(|covered| !covered.rules.is_empty() && !covered.is_tested)
    }

    /// Marks a coordinate as tested, and returns whether it exists.
    pub(super) fn test(&mut self, coordinate: &str) -> bool {
        let found = self
            .covered
            .iter_mut()
            .find(|covered| covered.coordinate == coordinate);
        found.map(|covered| covered.is_tested = true).is_some()
    }
}

impl Covered {
    /// Whether it is an operation.
    pub fn is_operation(&self) -> bool {
        ["Query.", "Mutation.", "Subscription."]
            .iter()
            .any(|root| self.coordinate.starts_with(root))
    }
}

fn of_type(def: &TypeDef, is_authorized: bool) -> Vec<Covered> {
    let TypeKind::Object(object) = &def.kind else {
        return Vec::new();
    };

    let fields = object
        .fields
        .values()
        .filter(|field| !matches!(field.kind, FieldKind::Part(_)));
    let covered = |field: &FieldDef| Covered {
        coordinate: format!("{}.{}", def.name, field.name),
        rules: rules(field, is_authorized),
        is_tested: false,
    };

    fields.map(covered).collect()
}

fn rules(field: &FieldDef, is_authorized: bool) -> Vec<String> {
    let mut rules: Vec<String> = field.guards.iter().map(ToString::to_string).collect();
    match field.kind {
        FieldKind::Root(_, _, own) if own.authorizer.is_some() => {
            rules.push("Asks an authorizer of its own.".into());
        }
        FieldKind::Root(..) if is_authorized => rules.push("Asks the authorizer.".into()),
        _ if field.is_authorized && is_authorized => rules.push("Asks the authorizer.".into()),
        _ => {}
    }

    if field.is_checked() {
        rules.push("Checks each object.".into());
    }

    rules
}
