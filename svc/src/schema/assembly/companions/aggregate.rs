//! `UserAggregate`, its groups, and the orders of these.

use super::objects::{define_object, list, non_null, reserve_object};
use super::{Companions, arg, define, described, field, list_of, reserve};
use crate::schema::AggregateFunction;
use crate::schema::ScalarKind;
use crate::schema::assembly::fields::{gate_of, is_checked, stored_fields};
use crate::schema::model::{
    ArgDef, ArgRole, FieldDef, FieldKind, Gated, InputRole, Part, TypeDef, TypeExpr, TypeIndex, TypeKind,
};

/// A stored field with one value, and the type of what is computed of it.
struct Leaf {
    name: String,
    rust: &'static str,
    stored: &'static str,
    ty: TypeIndex,
    gated: Option<Gated>,
}

impl Leaf {
    /// The key of an order by what is computed of the field.
    fn order(&self, direction: TypeIndex) -> ArgDef {
        ArgDef { gated: self.gated, ..field(&self.name, self.rust, TypeExpr::Named(direction)) }
    }
}

impl Companions<'_> {
    pub(super) fn aggregate(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex, index: TypeIndex) {
        let name = types[row].name.clone();
        let mut fields =
            vec![self.part("count", "The number of rows that match.", non_null(self.common.int), Part::Count)];
        let mut orders = Vec::new();
        let direction = self.direction_type(types);
        for function in AggregateFunction::ALL {
            let leaves = self.computed(types, row, function);
            if leaves.is_empty() {
                continue;
            }
            let object = reserve_object(types, &format!("{name}{}", function.title()));
            let parts = leaves.iter().map(|leaf| value(leaf, &format!("The {} of `{}`.", function.noun(), leaf.name)));
            let parts = parts.collect();
            define_object(types, object, format!("The {} of the fields of {name}.", function.noun()), parts);
            let description = format!("The {} of each field; null without rows.", function.noun());
            fields.push(self.part(function.sql(), &description, non_null(object), Part::Function(function)));
            let order = reserve(types, &format!("{name}{}OrderBy", function.title()));
            let keys = leaves.iter().map(|leaf| leaf.order(direction)).collect();
            define(
                types,
                order,
                InputRole::Order,
                format!("An order by the {} of fields of {name}.", function.noun()),
                keys,
            );
            orders.push((function, order));
        }
        if let Some(groups) = self.groups(types, row, &fields, &orders) {
            fields.push(groups);
        }
        define_object(types, index, format!("Aggregates over rows of {name}."), fields);
    }

    /// `groups`: the rows grouped by the fields that are selected of `key`.
    fn groups(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        aggregates: &[FieldDef],
        orders: &[(AggregateFunction, TypeIndex)],
    ) -> Option<FieldDef> {
        let name = types[row].name.clone();
        let leaves = self.keys(types, row);
        if leaves.is_empty() {
            return None;
        }
        let direction = self.direction_type(types);
        let key = reserve_object(types, &format!("{name}GroupKey"));
        let parts = leaves.iter().map(|leaf| value(leaf, "The value that the rows of the group share.")).collect();
        define_object(
            types,
            key,
            "The values that the rows of a group share, of the fields that are selected here.".to_owned(),
            parts,
        );

        let group = reserve_object(types, &format!("{name}Group"));
        let mut fields = vec![self.part("key", "The values that its rows share.", non_null(key), Part::Key)];
        fields.extend(aggregates.iter().map(|field| match field.kind {
            FieldKind::Part(part) => {
                self.part(field.rust, field.description.as_deref().unwrap_or_default(), field.ty.clone(), part)
            }
            kind => self.output(field.rust, "", field.ty.clone(), kind),
        }));
        define_object(types, group, format!("Rows of {name} that share the values of some fields."), fields);

        let by_key = reserve(types, &format!("{name}GroupKeyOrderBy"));
        let keys = leaves.iter().map(|leaf| leaf.order(direction)).collect();
        define(types, by_key, InputRole::Order, "An order by fields that are selected of `key`.".to_owned(), keys);
        let order = reserve(types, &format!("{name}GroupOrderBy"));
        let mut by = vec![
            described("key", "By what the rows share.", TypeExpr::Named(by_key)),
            described("count", "By how many rows there are.", TypeExpr::Named(direction)),
        ];
        by.extend(orders.iter().map(|(function, order)| {
            described(function.sql(), &format!("By the {} of a field.", function.noun()), TypeExpr::Named(*order))
        }));
        define(types, order, InputRole::Order, format!("An order of groups of {name}."), by);

        let mut groups =
            self.part("groups", "The rows, grouped by the fields selected of `key`.", list(group), Part::Groups);
        let int = TypeExpr::Named(self.common.int);
        groups.args = vec![
            arg(
                &self.naming.apply("order_by"),
                "The order, most significant key first.",
                list_of(order),
                ArgRole::OrderBy,
            ),
            arg("limit", "At most this many groups.", int.clone(), ArgRole::Limit),
            arg("offset", "Skips this many groups.", int, ArgRole::Offset),
        ];
        Some(groups)
    }

    /// The fields that a function makes sense of.
    fn computed(&self, types: &[TypeDef], row: TypeIndex, function: AggregateFunction) -> Vec<Leaf> {
        let result = |ty: TypeIndex| match &types[ty].kind {
            TypeKind::Scalar { kind, .. } => {
                let result = function.result(*kind)?;
                if result == *kind { Some(ty) } else { self.common.number(result) }
            }
            _ => None,
        };
        leaves(types, row, result)
    }

    /// The fields that rows can be grouped by.
    fn keys(&self, types: &[TypeDef], row: TypeIndex) -> Vec<Leaf> {
        leaves(types, row, |ty| match &types[ty].kind {
            TypeKind::Scalar { kind: ScalarKind::Json, .. } => None,
            TypeKind::Scalar { .. } | TypeKind::Enum(_) => Some(ty),
            _ => None,
        })
    }
}

fn leaves(types: &[TypeDef], row: TypeIndex, result: impl Fn(TypeIndex) -> Option<TypeIndex>) -> Vec<Leaf> {
    let fields = stored_fields(types, row).into_iter().filter(|field| !field.ty.is_list());
    let fields = fields.filter(|field| !is_checked(types, row, field.rust));
    let leaf = |field: &FieldDef| match field.kind {
        FieldKind::Stored { stored, .. } => Some(Leaf {
            name: field.name.clone(),
            rust: field.rust,
            stored,
            ty: result(field.ty.named())?,
            gated: gate_of(types, row, field.rust),
        }),
        _ => None,
    };
    fields.filter_map(leaf).collect()
}

fn value(leaf: &Leaf, description: &str) -> FieldDef {
    FieldDef {
        name: leaf.name.clone(),
        rust: leaf.rust,
        path: format!("svc's {}", leaf.rust),
        description: Some(description.to_owned()),
        deprecated: None,
        ty: TypeExpr::Named(leaf.ty),
        args: Vec::new(),
        kind: FieldKind::Stored { index: 0, stored: leaf.stored },
        gated: leaf.gated,
        guards: &[],
        is_authorized: false,
        checks: &[],
    }
}
