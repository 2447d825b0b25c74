//! The field `query` of results: the root of queries, whose fields run after the mutation.

use crate::schema::Registry;
use crate::schema::assembly::Builder;
use crate::schema::error::SchemaError;
use crate::schema::model::{FieldDef, FieldKind, TypeDef, TypeExpr, TypeIndex, TypeKind};

const QUERY: &str = "query";

const DESCRIPTION: &str = "The root of queries. Its fields are read after the mutation, and see what it has written. \
                           Null if one of them has an error and cannot be null.";

impl Builder {
    /// Adds the field to the success of each result that declares it. Only a mutation can return
    /// such a result: elsewhere, there is no point after which the field could be read, and a query
    /// could contain itself.
    pub(in crate::schema::assembly) fn add_queries_to_results(&mut self, registry: &Registry) {
        let declared = registry.results.iter().filter(|(_, meta)| meta.query);
        let mut results: Vec<(TypeIndex, &str)> = declared
            .map(|(key, meta)| (key.0, meta.success.name))
            .collect();

        // The registry has no order, but the list of errors needs one.
        results.sort_unstable();

        // A schema without queries has been reported by `add_roots`.
        let Some(query) = self.types.iter().position(|def| def.name == "Query") else {
            return;
        };

        for (result, name) in results {
            let Some(success) = member(&self.types, result, name) else {
                continue;
            };
            self.errors.extend(misplaced(&self.types, result, success));
            self.add_query(success, query);
        }
    }

    fn add_query(&mut self, success: TypeIndex, query: TypeIndex) {
        let def = &mut self.types[success];
        let path = def.path.clone();
        let TypeKind::Object(object) = &mut def.kind else {
            return;
        };

        if let Some(first) = object.fields.get(QUERY) {
            return self.errors.push(SchemaError::FieldClash {
                name: QUERY.to_owned(),
                first: first.rust.to_owned(),
                second: QUERY.to_owned(),
                path,
            });
        }

        let field = FieldDef {
            name: QUERY.to_owned(),
            rust: QUERY,
            path: format!("{path}::{QUERY}"),
            description: Some(DESCRIPTION.to_owned()),
            deprecated: None,
            // Nullable: an error in a read must not take the result of the write with it.
            ty: TypeExpr::Named(query),
            args: Vec::new(),
            kind: FieldKind::Query,
            gated: None,
            guards: &[],
            is_authorized: false,
            checks: &[],
            is_boundary: false,
        };

        object.fields.insert(field.name.clone(), field);
    }
}

/// The member of a result with this name.
fn member(types: &[TypeDef], result: TypeIndex, name: &str) -> Option<TypeIndex> {
    let TypeKind::Abstract(union) = &types[result].kind else {
        return None;
    };

    union
        .members
        .iter()
        .copied()
        .find(|index| types[*index].name == name)
}

/// The errors of all places that lead to the result or to its success, except for mutations.
fn misplaced(types: &[TypeDef], result: TypeIndex, success: TypeIndex) -> Vec<SchemaError> {
    let mut errors = Vec::new();
    let mut refuse = |path: &str, why| {
        errors.push(SchemaError::MisplacedQuery {
            path: path.to_owned(),
            result: types[result].path.clone(),
            why,
        });
    };

    for (index, def) in types.iter().enumerate() {
        if let TypeKind::Abstract(abstraction) = &def.kind
            && index != result
            && abstraction.members.contains(&success)
        {
            refuse(&def.path, "the success is a member of its result alone");
        }

        let is_mutation = def.name == "Mutation";
        for field in fields(&def.kind) {
            let named = field.ty.named();
            if named == success {
                refuse(&field.path, "the success is returned with its result alone");
            } else if named == result && !is_mutation {
                refuse(&field.path, "this is not a mutation");
            } else if named == result && field.ty.is_list() {
                refuse(&field.path, "this is a list of results");
            }
        }
    }

    errors
}

fn fields(kind: &TypeKind) -> impl Iterator<Item = &FieldDef> {
    let fields = match kind {
        TypeKind::Object(object) => Some(&object.fields),
        TypeKind::Abstract(abstraction) => abstraction.fields.as_ref(),
        _ => None,
    };

    fields.into_iter().flat_map(|fields| fields.values())
}
