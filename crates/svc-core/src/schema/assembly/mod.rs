//! Builds the [`Model`] from the metadata that the macros registered.

mod beside;
mod boundaries;
mod checks;
mod companions;
mod convert;
mod defaults;
mod derived;
mod fields;
mod gates;
mod hidden;
mod introspected;
mod nodes;
mod relations;
mod roots;

use std::collections::HashSet;

use apollo_compiler::Schema;
use apollo_compiler::validation::WithErrors;
use async_graphql::ID;

use super::error::SchemaError;
use super::model::{Extent, Model, TypeDef, TypeExpr, TypeIndex, TypeKind};
use super::naming::Naming;
use super::{Input, KeyFn, Registry, RootFieldMeta, TypeRef, sdl};
pub(crate) use defaults::CoerceLiteral;
pub use introspected::{IS_ONE_OF, TYPE};

/// A directive of the specification that apollo-compiler does not define by itself.
const ONE_OF: &str = "directive @oneOf on INPUT_OBJECT";

/// The types and functions listed by an application.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    pub types: Vec<KeyFn>,
    pub operations: Vec<&'static RootFieldMeta>,
    /// The types of nodes.
    pub nodes: Vec<KeyFn>,
    /// The types that only the program reads.
    pub internal: Vec<KeyFn>,
}

/// The application settings that affect its schema.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    pub naming: Naming,
    /// Whether filters have operators that take regular expressions.
    pub regular_expressions: bool,
    /// Whether guards are shown as directives.
    pub guard_directives: bool,
    /// Whether fields that may fail are shown as nullable, with `@semanticNonNull`.
    pub semantic_non_null: bool,
}

/// Builds the schema, or returns all its errors.
pub fn build(
    listed: &Listed,
    dialect: Dialect,
    coerce: CoerceLiteral,
) -> Result<Model, Vec<SchemaError>> {
    let mut registry = Registry::default();
    for register in &listed.types {
        register(&mut registry);
    }

    let operations: Vec<_> = listed
        .operations
        .iter()
        .map(|meta| roots::Operation::register(meta, &mut registry))
        .collect();

    let nodes: Vec<TypeIndex> = listed
        .nodes
        .iter()
        .map(|register| register(&mut registry).0)
        .collect();

    // Without nodes, the scalar `ID` should only be in the schema if a field uses it.
    let id = (!nodes.is_empty()).then(|| expr(&<ID as Input>::type_ref(&mut registry)).named());
    let common = companions::Common::register(&mut registry);

    // Types that are registered after this point are hidden unless a public type leads to them.
    let public = registry.entries.len();

    for register in &listed.internal {
        register(&mut registry);
    }

    let mut builder = Builder::of(&registry, dialect);

    // The conditions and orders on an interface depend on its members, so these are completed
    // first.
    builder.join_interfaces();
    builder.check_row_functions();
    let derived = derived::find(&registry);
    let mut companions = companions::Companions::new(&common, dialect, &derived);
    let node = id.and_then(|id| Some((builder.add_nodes(&nodes, id, &companions)?, id)));

    companions.derive(&mut builder.types, &derived);
    for (page, index) in derived::joined(&registry) {
        companions.joined_connection(&mut builder.types, page, index);
    }

    builder.add_roots(&operations, &mut companions);
    if let Some((interface, id)) = node {
        builder.add_node_fields(interface, id, &companions);
    }

    builder.add_queries_to_results(&registry);
    builder.add_relation_args(&mut companions);
    builder.check_page_orders();

    // All gates are known here, and `cascade` may reveal the fields of any type.
    builder.gate_documents(&registry);

    // The preceding steps copy arguments, so the defaults of all copies are coerced last.
    builder.fill_defaults(coerce);
    builder.check();
    builder.mark_boundaries();
    let hidden = if listed.internal.is_empty() {
        HashSet::new()
    } else {
        hidden::find(&builder.types, public)
    };

    builder.finish(&registry, &hidden)
}

struct Builder {
    dialect: Dialect,
    types: Vec<TypeDef>,
    errors: Vec<SchemaError>,
}

impl Builder {
    /// Converts all registered types.
    fn of(registry: &Registry, dialect: Dialect) -> Self {
        let mut builder = Self {
            dialect,
            types: Vec::new(),
            errors: Vec::new(),
        };

        for index in 0..registry.entries.len() {
            let def = builder.convert(registry, index);
            builder.types.push(def);
        }

        let misplaced = registry.misplaced.iter().copied();
        builder
            .errors
            .extend(misplaced.map(SchemaError::misplaced_page));

        builder
    }

    fn finish(
        self,
        registry: &Registry,
        hidden: &HashSet<TypeIndex>,
    ) -> Result<Model, Vec<SchemaError>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }

        let text = sdl::print(&self.types, hidden, self.dialect.guard_directives);
        let invalid = |invalid: WithErrors<Schema>| {
            invalid
                .errors
                .iter()
                .map(|error| SchemaError::Invalid(error.error.to_string()))
                .collect::<Vec<_>>()
        };

        // Documents are validated against the printed text, so a client that reads it sees the same
        // schema.
        let mut document =
            Schema::parse(format!("{text}\n{ONE_OF}"), "schema.graphql").map_err(invalid)?;
        // A validated schema cannot be changed, so this comes first.
        introspected::extend(&mut document);
        let document = document.validate().map_err(invalid)?;

        Ok(Model {
            by_name: self
                .types
                .iter()
                .enumerate()
                .map(|(index, def)| (def.name.clone(), index))
                .collect(),
            by_rust: registry.rust.iter().map(|(id, key)| (*id, key.0)).collect(),
            decoders: registry
                .decoders
                .iter()
                .map(|(key, decode)| (key.0, *decode))
                .collect(),
            results: registry
                .results
                .iter()
                .map(|(key, result)| (key.0, *result))
                .collect(),
            sdl: text,
            implementers: document.implementers_map(),
            extent: Extent::of(&document),
            has_gates: self.types.iter().any(|def| has_gates(&def.kind)),
            has_rules: self.types.iter().any(|def| has_rules(&def.kind)),
            has_atomic: self.types.iter().any(sdl::has_atomic_fields),
            types: self.types,
            document,
        })
    }

    fn name(&mut self, element: &super::ElementMeta, path: &str) -> String {
        let name = element
            .name
            .map_or_else(|| self.dialect.naming.apply(element.rust), str::to_owned);
        let mut bytes = name.bytes();
        let starts = bytes
            .next()
            .is_some_and(|b| b == b'_' || b.is_ascii_alphabetic());

        // Names that begin with two underscores are reserved for introspection.
        if !starts
            || !bytes.all(|b| b == b'_' || b.is_ascii_alphanumeric())
            || name.starts_with("__")
        {
            self.errors.push(SchemaError::BadName {
                name: name.clone(),
                path: path.to_owned(),
            });
        }

        name
    }
}

fn has_gates(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Object(object) if object.fields.values().any(|field| field.gated.is_some()))
}

pub(super) fn expr(reference: &TypeRef) -> TypeExpr {
    match reference {
        TypeRef::Named(key) => TypeExpr::Named(key.0),
        TypeRef::List(inner) => TypeExpr::List(Box::new(expr(inner))),
        TypeRef::NonNull(inner) => TypeExpr::NonNull(Box::new(expr(inner))),
        TypeRef::Spread(_) => {
            unreachable!("a parameter that stands for several arguments is taken apart before")
        }
    }
}

fn member_names(types: &[TypeDef], members: &[TypeIndex]) -> Vec<String> {
    members
        .iter()
        .map(|index| types[*index].name.clone())
        .collect()
}

/// Whether the type's fields or their arguments have rules on values.
fn has_rules(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Input(input) => input.fields.values().any(|field| !field.rules.is_empty()),
        TypeKind::Object(object) => object
            .fields
            .values()
            .flat_map(|field| &field.args)
            .any(|arg| !arg.rules.is_empty()),
        _ => false,
    }
}
