//! `UserGroup`, its grouping keys, and the arguments of `groups`.

use super::Companions;
use super::aggregate::{Computed, value};
use super::group_keys::{GroupKeys, KeyField, RelatedKeys};
use super::inputs::{arg, define, described, field, list_of, reserve};
use super::objects::{define_object, list, non_null, reserve_object};
use crate::schema::model::{
    ArgDef, ArgRole, EnumDef, FieldDef, FieldKind, InputRole, Part, TypeDef, TypeExpr, TypeIndex,
    TypeKind,
};
use crate::schema::naming::pascal_case;

impl Companions<'_> {
    /// `groups`; `None` if there is nothing to group by.
    pub(super) fn groups(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        computed: &mut Computed,
    ) -> Option<FieldDef> {
        let name = types[row].name.clone();
        let keys = self.group_keys(types, row);
        if keys.own.is_empty() && keys.related.is_empty() {
            return None;
        }

        let group = self.group_type(types, &name, &keys, &computed.fields);
        let by = members_type(types, &name, &keys);
        let having = having_type(types, &name, std::mem::take(&mut computed.conditions));
        let order =
            self.group_order_type(types, &name, &keys, std::mem::take(&mut computed.orders));
        let int = TypeExpr::Named(self.common.int);
        let mut groups = self.part("groups", "The rows, in groups.", list(group), Part::Groups);

        groups.args = vec![
            arg(
                "by",
                "What the rows of a group share; without it, all rows are one.",
                list_of(by),
                ArgRole::GroupBy,
            ),
            arg(
                "having",
                "Only groups that match.",
                TypeExpr::Named(having),
                ArgRole::Having,
            ),
            arg(
                &self.naming.apply("order_by"),
                "The order, most significant key first.",
                list_of(order),
                ArgRole::OrderBy,
            ),
            arg(
                "limit",
                "At most this many groups.",
                int.clone(),
                ArgRole::Limit,
            ),
            arg("offset", "Skips this many groups.", int, ArgRole::Offset),
        ];

        Some(groups)
    }

    fn group_type(
        &self,
        types: &mut Vec<TypeDef>,
        name: &str,
        keys: &GroupKeys,
        computed: &[FieldDef],
    ) -> TypeIndex {
        let key = self.key_type(types, name, keys);
        let group = reserve_object(types, &format!("{name}Group"));
        let mut fields = vec![self.part(
            "key",
            "What its rows share, as far as `by` names it.",
            non_null(key),
            Part::Key,
        )];

        fields.extend(computed.iter().map(|field| {
            self.output(
                field.rust,
                field.description.as_deref().unwrap_or_default(),
                field.ty.clone(),
                field.kind,
            )
        }));

        define_object(
            types,
            group,
            format!("Rows of {name} that share the values of some fields."),
            fields,
        );

        group
    }

    /// `UserGroupKey`, and its nested objects for the rows that relations lead to.
    fn key_type(&self, types: &mut Vec<TypeDef>, name: &str, keys: &GroupKeys) -> TypeIndex {
        let key = reserve_object(types, &format!("{name}GroupKey"));
        let mut fields: Vec<FieldDef> = keys.own.iter().map(key_field).collect();
        for related in &keys.related {
            let title = format!("{name}GroupKey{}", pascal_case(&related.name));
            let object = reserve_object(types, &title);
            let values = related.fields.iter().map(key_field).collect();
            let description = format!(
                "Values of `{}` that the rows of a group share.",
                related.name
            );
            define_object(types, object, description.clone(), values);
            let part = Part::RelatedKey(related.rust);
            let field = self.part(related.rust, &description, non_null(object), part);

            fields.push(FieldDef {
                name: related.name.clone(),
                gated: related.gated,
                ..field
            });
        }

        let description =
            "The values that the rows of a group share; `by` has to name what is selected.";
        define_object(types, key, description.to_owned(), fields);

        key
    }

    fn group_order_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        name: &str,
        keys: &GroupKeys,
        computed: Vec<ArgDef>,
    ) -> TypeIndex {
        let direction = self.direction_type(types);
        let of_key = |fields: &[KeyField]| {
            fields
                .iter()
                .map(|field| by_key(field, direction))
                .collect::<Vec<_>>()
        };

        let mut fields = of_key(&keys.own);
        for related in &keys.related {
            let ty = reserve(
                types,
                &format!("{name}GroupKey{}OrderBy", pascal_case(&related.name)),
            );
            let description = format!("An order by fields of `{}` that `by` names.", related.name);
            define(
                types,
                ty,
                InputRole::Order,
                description,
                of_key(&related.fields),
            );

            fields.push(by_related(related, ty));
        }

        let by_key = reserve(types, &format!("{name}GroupKeyOrderBy"));
        define(
            types,
            by_key,
            InputRole::Order,
            "An order by what `by` names.".to_owned(),
            fields,
        );

        let order = reserve(types, &format!("{name}GroupOrderBy"));
        let key = described("key", "By what the rows share.", TypeExpr::Named(by_key));
        let by = [key].into_iter().chain(computed).collect();

        define(
            types,
            order,
            InputRole::Order,
            format!("An order of groups of {name}."),
            by,
        );

        order
    }
}

/// `UserGroupBy`.
fn members_type(types: &mut Vec<TypeDef>, name: &str, keys: &GroupKeys) -> TypeIndex {
    let name = format!("{name}GroupBy");
    types.push(TypeDef {
        description: Some("A value that the rows of a group share.".to_owned()),
        path: format!("svc's {name}"),
        name,
        kind: TypeKind::Enum(EnumDef {
            values: keys.members().into(),
        }),
    });

    types.len() - 1
}

/// `UserGroupHaving`.
fn having_type(types: &mut Vec<TypeDef>, name: &str, mut fields: Vec<ArgDef>) -> TypeIndex {
    let having = reserve(types, &format!("{name}GroupHaving"));
    fields.push(described("AND", "All of these.", list_of(having)));
    fields.push(described("OR", "Any of these.", list_of(having)));
    fields.push(described("NOT", "Not this.", TypeExpr::Named(having)));
    let description = format!("Conditions on groups of {name}; all must hold.");
    define(types, having, InputRole::Conditions, description, fields);
    having
}

fn key_field(field: &KeyField) -> FieldDef {
    let kind = match field.period {
        Some(period) => FieldKind::Part(Part::Period(field.leaf.stored, period)),
        None => FieldKind::Stored {
            // A generated type has no struct, so the position means nothing.
            index: 0,
            stored: field.leaf.stored,
        },
    };

    FieldDef {
        kind,
        ..value(&field.leaf, field.description.clone())
    }
}

/// Orders by the key use the names of its fields.
fn by_key(key: &KeyField, direction: TypeIndex) -> ArgDef {
    ArgDef {
        gated: key.leaf.gated,
        ..field(&key.leaf.name, &key.leaf.name, TypeExpr::Named(direction))
    }
}

fn by_related(related: &RelatedKeys, ty: TypeIndex) -> ArgDef {
    ArgDef {
        gated: related.gated,
        ..field(&related.name, &related.name, TypeExpr::Named(ty))
    }
}
