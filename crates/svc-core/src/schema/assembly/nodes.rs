//! Types whose rows clients can fetch again by opaque ids: the interface `Node`, its field, and the
//! root fields `node` and `nodes`.

use indexmap::IndexMap;

use super::Builder;
use super::companions::Companions;
use crate::schema::error::SchemaError;
use crate::schema::model::{
    AbstractDef, ArgDef, FieldDef, FieldKind, ObjectDef, TypeDef, TypeExpr, TypeIndex, TypeKind,
    is_checked,
};
use crate::schema::{Place, RootRules, Run, ScalarKind};

const INTERFACE: &str = "Node";

impl Builder {
    /// Adds the interface, and its field to the listed types. `id` is the type of ids.
    pub(super) fn add_nodes(
        &mut self,
        nodes: &[TypeIndex],
        id: TypeIndex,
        companions: &Companions<'_>,
    ) -> Option<TypeIndex> {
        if nodes.is_empty() {
            return None;
        }

        let interface = self.types.len();
        let field = |kind| {
            let ty = TypeExpr::NonNull(Box::new(TypeExpr::Named(id)));
            companions.output(
                "node_id",
                "The id by which `node` finds the row, of whatever type it is.",
                ty,
                kind,
            )
        };

        for node in nodes {
            match self.key(*node) {
                Ok(kind) => self.add_node(*node, interface, field(kind)),
                Err(why) => {
                    let path = self.types[*node].path.clone();
                    self.errors.push(SchemaError::NotANode { path, why });
                }
            }
        }

        let promised = field(FieldKind::Promised);
        let fields = IndexMap::from_iter([(promised.name.clone(), promised)]);
        let place = Place {
            file: file!(),
            line: line!(),
        };

        let kind = AbstractDef {
            fields: Some(fields),
            source: None,
            members: nodes.to_vec(),
            place,
        };

        self.types.push(TypeDef {
            name: INTERFACE.to_owned(),
            description: Some("A row that clients find again by an id of all types.".to_owned()),
            path: "svc's Node".to_owned(),
            kind: TypeKind::Abstract(kind),
        });

        Some(interface)
    }

    /// The value of the field, derived from the `id` of a row.
    fn key(&self, node: TypeIndex) -> Result<FieldKind, &'static str> {
        let TypeKind::Object(ObjectDef {
            fields,
            source: Some(_),
            ..
        }) = &self.types[node].kind
        else {
            return Err("has no `sql_source`");
        };

        let id = fields
            .values()
            .find(|field| matches!(field.kind, FieldKind::Stored { stored: "id", .. }));
        let id = id.ok_or("stores no `id`")?;

        // The id of a node contains the row's `id`, so a client could read it without passing the
        // gate.
        if id.has_gate() || is_checked(&self.types, node, id.rust) {
            return Err("has an `id` that not everybody may learn");
        }

        let TypeExpr::NonNull(ty) = &id.ty else {
            return Err("has an `id` that may be null");
        };

        match (&self.types[ty.named()].kind, id.kind) {
            (TypeKind::Scalar { kind, .. }, FieldKind::Stored { index, stored })
                if !ty.is_list() && is_id(*kind) =>
            {
                Ok(FieldKind::NodeId {
                    index,
                    stored,
                    kind: *kind,
                })
            }
            _ => Err("has an `id` that is not a UUID, an ID, an integer or a string"),
        }
    }

    fn add_node(&mut self, node: TypeIndex, interface: TypeIndex, field: FieldDef) {
        let path = self.types[node].path.clone();
        let TypeKind::Object(object) = &mut self.types[node].kind else {
            return;
        };

        let known = object
            .fields
            .values()
            .find(|known| known.name == field.name || known.rust == field.rust);
        if let Some(known) = known {
            let (name, first, second) = (
                field.name,
                known.rust.to_owned(),
                format!("{INTERFACE}.{}", field.rust),
            );

            return self.errors.push(SchemaError::FieldClash {
                name,
                first,
                second,
                path,
            });
        }

        object.implements.push(interface);

        object.fields.shift_insert(0, field.name.clone(), field);
    }

    /// Adds the root fields.
    pub(super) fn add_node_fields(
        &mut self,
        interface: TypeIndex,
        id: TypeIndex,
        companions: &Companions<'_>,
    ) {
        let id = || TypeExpr::NonNull(Box::new(TypeExpr::Named(id)));
        let ids = TypeExpr::NonNull(Box::new(TypeExpr::List(Box::new(id()))));
        let node = || TypeExpr::Named(interface);
        let nodes = TypeExpr::NonNull(Box::new(TypeExpr::List(Box::new(node()))));
        let arg = |name, ty| ArgDef::described(name, "As `nodeId` and its like gave it.", ty);
        let kind = || FieldKind::Root(Run::Nodes, None, RootRules::NONE);
        let one = FieldDef {
            args: vec![arg("id", id())],
            ..companions.output(
                "node",
                "The row with an id, or null where there is none.",
                node(),
                kind(),
            )
        };

        let many = FieldDef {
            args: vec![arg("ids", ids)],
            ..companions.output(
                "nodes",
                "The rows with these ids in their order, each null where there is none.",
                nodes,
                kind(),
            )
        };

        let query = self
            .types
            .iter_mut()
            .find(|def| def.name == "Query")
            .map(|def| &mut def.kind);

        // A schema without queries has been reported by `add_roots`.
        let Some(TypeKind::Object(query)) = query else {
            return;
        };

        for field in [one, many] {
            match query.fields.get(&field.name) {
                Some(known) => self.errors.push(SchemaError::OperationClash {
                    kind: "query",
                    name: field.name,
                    first: known.path.clone(),
                    second: "a root field for `AppOptions::nodes`".to_owned(),
                }),
                None => drop(query.fields.insert(field.name.clone(), field)),
            }
        }
    }
}

fn is_id(kind: ScalarKind) -> bool {
    matches!(
        kind,
        ScalarKind::Uuid
            | ScalarKind::Id
            | ScalarKind::Int
            | ScalarKind::BigInt
            | ScalarKind::String
    )
}
