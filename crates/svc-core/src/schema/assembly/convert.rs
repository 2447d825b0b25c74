//! Converts registry entries to type definitions.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Builder, beside, derived, expr};
use crate::schema::error::SchemaError;
use crate::schema::model::{
    AbstractDef, ArgDef, ArgRole, DefaultValue, EnumDef, EnumValue, FieldDef, FieldKind, Gated,
    InputDef, InputRole, ObjectDef, Relation, TypeDef, TypeExpr, TypeIndex, TypeKind,
};
use crate::schema::registration::{
    AbstractRefs, ArgRef, Entry, ObjectRefs, RelationRefs, described,
};
use crate::schema::{
    AbstractMeta, ArgMeta, ComputedRun, ElementMeta, Guard, ObjectMeta, Registry, RelationMeta,
    Shape, ValueRule,
};

impl Builder {
    pub(super) fn convert(&mut self, registry: &Registry, index: TypeIndex) -> TypeDef {
        match &registry.entries[index] {
            Entry::Scalar(meta) => TypeDef {
                name: meta.name.to_owned(),
                description: meta.description.map(str::to_owned),
                path: format!("scalar {}", meta.name),
                kind: TypeKind::Scalar {
                    kind: meta.kind,
                    specified_by: meta.specified_by,
                },
            },
            Entry::Enum(meta) => {
                let values = meta.values.iter().map(|value| EnumValue {
                    name: value.element.name.unwrap_or(value.element.rust).into(),
                    stored: value.stored,
                    description: value.element.description.map(Into::into),
                    deprecated: value.element.deprecated,
                    group_key: None,
                });

                define(
                    &meta.element,
                    meta.path,
                    TypeKind::Enum(EnumDef {
                        values: values.collect(),
                    }),
                )
            }
            Entry::Input(meta, refs) => {
                let fields = self.args(refs, meta.path);
                let fields = fields
                    .into_iter()
                    .map(|field| (field.name.clone(), field))
                    .collect();

                define(
                    &meta.element,
                    meta.path,
                    TypeKind::Input(InputDef {
                        fields,
                        one_of: meta.one_of,
                        role: InputRole::Declared,
                    }),
                )
            }
            Entry::Object(meta, refs) => self.object(index, meta, refs),
            Entry::Abstract(meta, refs) => self.abstract_type(meta, refs),
            Entry::Derived(derived, row) => derived::placeholder(registry, *derived, *row, index),
            Entry::Joined(page) => derived::joined_placeholder(page, index),
            Entry::Pending => unreachable!("the walk has ended"),
        }
    }

    fn object(
        &mut self,
        index: TypeIndex,
        meta: &'static ObjectMeta,
        refs: &ObjectRefs,
    ) -> TypeDef {
        let mut fields: IndexMap<String, FieldDef> = IndexMap::new();
        for (position, (field, ty)) in meta.fields.iter().zip(&refs.fields).enumerate() {
            let related = field
                .relation
                .as_ref()
                .zip(refs.relations[position].as_ref());
            let kind = match related {
                Some((meta, refs)) => FieldKind::Relation(relation(meta, refs, position)),
                None => FieldKind::Stored {
                    index: position,
                    stored: field.stored,
                },
            };

            let def = self
                .field(&field.element, expr(ty), &[], kind, meta.path)
                .guarded(field.guards);
            let def = FieldDef {
                checks: field.checks,
                ..def
            };

            // Built while `def` can still be borrowed; the schema shows them after the relation.
            let beside =
                related.map(|(relation, refs)| self.beside(&def, relation, refs, meta.path));
            self.add_field(&mut fields, def, meta.path);

            beside
                .into_iter()
                .flatten()
                .for_each(|def| self.add_field(&mut fields, def, meta.path));
        }

        self.add_computed_fields(&mut fields, meta, refs);
        self.gate_fields(&mut fields, index, meta);
        let implements = refs.implements.iter().map(|key| key.0).collect();
        let object = ObjectDef {
            index,
            fields,
            source: meta.source,
            implements,
            declared: Some(meta),
        };

        define(&meta.element, meta.path, TypeKind::Object(object))
    }

    /// Adds the fields that methods and functions of the database compute.
    fn add_computed_fields(
        &mut self,
        fields: &mut IndexMap<String, FieldDef>,
        meta: &ObjectMeta,
        refs: &ObjectRefs,
    ) {
        for (field, (ty, args)) in meta.computed.iter().zip(&refs.computed) {
            let kind = match field.run {
                ComputedRun::Method(code) => FieldKind::Method(code, field.cost),
                ComputedRun::Function(function) => FieldKind::Function(function, field.cost),
            };

            let def = self
                .field(&field.element, expr(ty), args, kind, meta.path)
                .guarded(field.guards);
            let def = FieldDef {
                checks: field.checks,
                ..def
            };

            self.add_field(fields, def, meta.path);
        }
    }

    /// Gates the fields of an object type that have guards or that `authorize_fields` names.
    fn gate_fields(
        &mut self,
        fields: &mut IndexMap<String, FieldDef>,
        index: TypeIndex,
        meta: &ObjectMeta,
    ) {
        for gated in meta.authorize_fields {
            match fields
                .values_mut()
                .find(|field| field.rust == *gated && !field.is_derived())
            {
                Some(field) => field.is_authorized = true,
                None => {
                    let field = (*gated).to_owned();
                    self.errors.push(SchemaError::UnknownGate {
                        path: meta.path.to_owned(),
                        field,
                    });
                }
            }
        }

        for field in fields.values_mut().filter(|field| field.has_gate()) {
            field.gated = Some(Gated::Field {
                of: index,
                rust: field.rust,
            });
        }

        // The relations have their gates here, and the fields derived from them take these over.
        beside::share_gates(fields);
    }

    fn abstract_type(&mut self, meta: &'static AbstractMeta, refs: &AbstractRefs) -> TypeDef {
        let fields = meta.interface.map(|promised| {
            let mut fields = IndexMap::new();
            for (field, (ty, args)) in promised.iter().zip(&refs.fields) {
                let def = self.field(
                    &field.element,
                    expr(ty),
                    args,
                    FieldKind::Promised,
                    meta.path,
                );
                self.add_field(&mut fields, def, meta.path);
            }

            fields
        });

        let members = refs.members.iter().map(|key| key.0).collect();
        let abstraction = AbstractDef {
            fields,
            source: meta.source,
            members,
            place: meta.place,
        };

        define(&meta.element, meta.path, TypeKind::Abstract(abstraction))
    }

    pub(super) fn field(
        &mut self,
        element: &ElementMeta,
        ty: TypeExpr,
        args: &[ArgRef],
        kind: FieldKind,
        path: &str,
    ) -> FieldDef {
        let own_path = format!("{path}::{}", element.rust);
        FieldDef {
            name: self.name(element, path),
            rust: element.rust,
            description: element.description.map(str::to_owned),
            deprecated: element.deprecated,
            ty,
            args: self.args(args, &own_path),
            path: own_path,
            kind,
            gated: None,
            guards: &[],
            is_authorized: false,
            checks: &[],
            is_boundary: false,
        }
    }

    pub(super) fn add_field(
        &mut self,
        fields: &mut IndexMap<String, FieldDef>,
        def: FieldDef,
        path: &str,
    ) {
        match fields.get(&def.name) {
            Some(first) if first.is_derived() || def.is_derived() => {
                self.errors.push(beside::clash(first, &def, path));
            }
            Some(first) => self.errors.push(SchemaError::FieldClash {
                name: def.name,
                first: first.rust.to_owned(),
                second: def.rust.to_owned(),
                path: path.to_owned(),
            }),
            None => {
                fields.insert(def.name.clone(), def);
            }
        }
    }

    /// Converts arguments; the literals of defaults are checked later, when all types are
    /// available.
    fn args(&mut self, refs: &[ArgRef], path: &str) -> Vec<ArgDef> {
        let mut args: Vec<ArgDef> = Vec::with_capacity(refs.len());
        for ArgRef {
            slot,
            spread,
            meta,
            ty,
        } in refs
        {
            let name = self.name(&meta.element, path);
            if let Some(first) = args.iter().find(|arg| arg.name == name) {
                self.errors.push(SchemaError::FieldClash {
                    name: name.clone(),
                    first: first.rust.clone(),
                    second: meta.element.rust.to_owned(),
                    path: path.to_owned(),
                });
            }

            let ty = expr(ty);

            // The specification of September 2025, section 3.13.3 (`@deprecated`).
            if meta.element.deprecated.is_some() && ty.is_non_null() && meta.default.is_none() {
                let (name, path) = (meta.element.rust.to_owned(), path.to_owned());
                self.errors
                    .push(SchemaError::DeprecatedRequired { name, path });
            }

            let rules = self.rules(meta, path);

            args.push(ArgDef {
                name,
                rust: meta.element.rust.to_owned(),
                description: with_rules(meta.element.description, &rules),
                rules,
                deprecated: meta.element.deprecated,
                ty,
                default: meta.default.map(DefaultValue::unchecked),
                role: ArgRole::Declared,
                slot: *slot,
                spread: *spread,
                gated: None,
                nested: meta.nested,
            });
        }

        args
    }

    fn rules(&mut self, meta: &ArgMeta, path: &str) -> Arc<[ValueRule]> {
        let mut rules = Vec::with_capacity(meta.rules.len());
        for rule in meta.rules {
            match ValueRule::read(rule) {
                Ok(rule) => rules.push(rule),
                Err(why) => {
                    let (name, path) = (meta.element.rust.to_owned(), path.to_owned());
                    self.errors.push(SchemaError::BadRule { name, path, why });
                }
            }
        }

        rules.into()
    }

    /// Completes both directions: the members of an interface implement it, and each implementing
    /// type is a member.
    pub(super) fn join_interfaces(&mut self) {
        let mut pairs = Vec::new();
        for (index, def) in self.types.iter().enumerate() {
            match &def.kind {
                TypeKind::Abstract(AbstractDef {
                    fields: Some(_),
                    members,
                    ..
                }) => {
                    pairs.extend(members.iter().map(|member| (index, *member)));
                }
                TypeKind::Object(object) => pairs.extend(
                    object
                        .implements
                        .iter()
                        .map(|interface| (*interface, index)),
                ),
                _ => {}
            }
        }

        for (interface, member) in pairs {
            if let TypeKind::Abstract(def) = &mut self.types[interface].kind
                && !def.members.contains(&member)
            {
                def.members.push(member);
            }
            if let TypeKind::Object(def) = &mut self.types[member].kind
                && !def.implements.contains(&interface)
            {
                def.implements.push(interface);
            }
        }
    }
}

impl FieldDef {
    /// Returns the field, restricted to users for whom all conditions hold.
    pub(super) fn guarded(self, guards: &'static [Guard]) -> Self {
        Self {
            description: described(self.description, guards),
            guards,
            ..self
        }
    }
}

/// The relation of the field at a position of a struct.
fn relation(meta: &RelationMeta, refs: &RelationRefs, index: usize) -> Relation {
    let shape = if meta.many {
        Shape::List
    } else {
        Shape::Optional
    };

    Relation {
        index,
        shape,
        row: refs.row.0,
        from: meta.from,
        to: meta.to,
        through: meta.through,
        joining: refs.joining.map(|joining| joining.0),
        order: meta.order,
        is_from_client: false,
    }
}

fn define(element: &ElementMeta, path: &str, kind: TypeKind) -> TypeDef {
    TypeDef {
        name: element.name.unwrap_or(element.rust).to_owned(),
        description: element.description.map(str::to_owned),
        path: path.to_owned(),
        kind,
    }
}

/// A description, followed by the rules on values, one per line.
fn with_rules(description: Option<&str>, rules: &[ValueRule]) -> Option<String> {
    let rules = rules.iter().map(|rule| format!("A value {rule}."));
    let lines: Vec<String> = description
        .map(str::to_owned)
        .into_iter()
        .chain(rules)
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
