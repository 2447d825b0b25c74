//! Input types that the framework makes from the user's types: `UserWhere`, `UserOrderBy` and what they hold.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::build::{expr, stored_fields};
use super::model::{ArgDef, ArgRole, EnumDef, EnumValue, InputDef, TypeDef, TypeExpr, TypeIndex, TypeKind};
use super::{Input, Naming, Registry, ScalarKind};

/// The scalars that generated types need.
pub(super) struct Common {
    int: TypeIndex,
    boolean: TypeIndex,
}

impl Common {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            int: expr(&<i32 as Input>::type_ref(registry)).named(),
            boolean: expr(&<bool as Input>::type_ref(registry)).named(),
        }
    }
}

/// Makes each generated type once.
pub(super) struct Generated<'a> {
    common: &'a Common,
    direction: Option<TypeIndex>,
    filters: HashMap<TypeIndex, TypeIndex>,
    wheres: HashMap<TypeIndex, Option<TypeIndex>>,
    orders: HashMap<TypeIndex, Option<TypeIndex>>,
}

impl<'a> Generated<'a> {
    pub(super) fn new(common: &'a Common) -> Self {
        Self { common, direction: None, filters: HashMap::new(), wheres: HashMap::new(), orders: HashMap::new() }
    }

    /// `where`, `orderBy`, `limit` and `offset` for a list of `row`.
    pub(super) fn list_args(&mut self, types: &mut Vec<TypeDef>, naming: Naming, row: TypeIndex) -> Vec<ArgDef> {
        let mut args = Vec::new();
        if let Some(index) = self.where_type(types, row) {
            args.push(arg("where", "Only rows that match.", TypeExpr::Named(index), ArgRole::Where));
        }
        if let Some(index) = self.order_type(types, row) {
            let ty = TypeExpr::List(Box::new(TypeExpr::NonNull(Box::new(TypeExpr::Named(index)))));
            args.push(arg(&naming.apply("order_by"), "The order, most significant key first.", ty, ArgRole::OrderBy));
        }
        let int = TypeExpr::Named(self.common.int);
        args.push(arg("limit", "At most this many rows.", int.clone(), ArgRole::Limit));
        args.push(arg("offset", "Skips this many rows.", int, ArgRole::Offset));
        args
    }

    fn where_type(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Option<TypeIndex> {
        if let Some(known) = self.wheres.get(&row) {
            return *known;
        }
        let leaves = leaves(types, row);
        if leaves.is_empty() {
            self.wheres.insert(row, None);
            return None;
        }
        let name = format!("{}Where", types[row].name);
        let mut fields: Vec<ArgDef> = leaves
            .into_iter()
            .filter_map(|leaf| {
                let filter = self.filter_type(types, leaf.ty)?;
                Some(field(&leaf.name, leaf.rust, TypeExpr::Named(filter)))
            })
            .collect();
        let index = types.len();
        let itself = TypeExpr::Named(index);
        let list = TypeExpr::List(Box::new(TypeExpr::NonNull(Box::new(itself.clone()))));
        fields.push(described("AND", "All of these.", list.clone()));
        fields.push(described("OR", "Any of these.", list));
        fields.push(described("NOT", "Not this.", itself));
        push_input(types, name, &format!("Conditions on {}; all must hold.", types[row].name), fields);
        self.wheres.insert(row, Some(index));
        Some(index)
    }

    /// `UUIDFilter` and its siblings, for one scalar or enum.
    fn filter_type(&mut self, types: &mut Vec<TypeDef>, leaf: TypeIndex) -> Option<TypeIndex> {
        if let Some(known) = self.filters.get(&leaf) {
            return Some(*known);
        }
        let operators = operators(&types[leaf].kind)?;
        let one = TypeExpr::Named(leaf);
        let many = TypeExpr::List(Box::new(TypeExpr::NonNull(Box::new(one.clone()))));
        let fields = operators.iter().map(|(name, description)| {
            let ty = match *name {
                "in" | "nin" => many.clone(),
                "isnull" => TypeExpr::Named(self.common.boolean),
                _ => one.clone(),
            };
            described(name, description, ty)
        });
        let fields = fields.collect();
        let name = format!("{}Filter", types[leaf].name);
        let index = push_input(types, name, &format!("Conditions on a {}; all must hold.", types[leaf].name), fields);
        self.filters.insert(leaf, index);
        Some(index)
    }

    fn order_type(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Option<TypeIndex> {
        if let Some(known) = self.orders.get(&row) {
            return *known;
        }
        let leaves: Vec<_> = leaves(types, row).into_iter().filter(|leaf| is_ordered(&types[leaf.ty].kind)).collect();
        let made = (!leaves.is_empty()).then(|| {
            let direction = self.direction_type(types);
            let fields = leaves.iter().map(|leaf| field(&leaf.name, leaf.rust, TypeExpr::Named(direction))).collect();
            let name = format!("{}OrderBy", types[row].name);
            push_input(types, name, &format!("An order of {}.", types[row].name), fields)
        });
        self.orders.insert(row, made);
        made
    }

    fn direction_type(&mut self, types: &mut Vec<TypeDef>) -> TypeIndex {
        *self.direction.get_or_insert_with(|| {
            let value =
                |name, description| EnumValue { name, stored: name, description: Some(description), deprecated: None };
            types.push(TypeDef {
                name: "OrderDirection".to_owned(),
                description: Some("The direction of an order, and where nulls go.".to_owned()),
                path: "svc's OrderDirection".to_owned(),
                kind: TypeKind::Enum(EnumDef {
                    values: vec![
                        value("ASC", "Smallest first, nulls last."),
                        value("DESC", "Largest first, nulls first."),
                        value("ASC_NULLS_FIRST", "Smallest first, nulls first."),
                        value("ASC_NULLS_LAST", "Smallest first, nulls last."),
                        value("DESC_NULLS_FIRST", "Largest first, nulls first."),
                        value("DESC_NULLS_LAST", "Largest first, nulls last."),
                    ],
                }),
            });
            types.len() - 1
        })
    }
}

struct Leaf {
    name: String,
    rust: &'static str,
    ty: TypeIndex,
}

fn leaves(types: &[TypeDef], row: TypeIndex) -> Vec<Leaf> {
    let fields = stored_fields(types, row).into_iter();
    fields.map(|field| Leaf { name: field.name.clone(), rust: field.rust, ty: field.ty.named() }).collect()
}

const EQUALITY: [(&str, &str); 5] = [
    ("eq", "Equal; null means that the value is null."),
    ("neq", "Not equal; rows without a value are kept."),
    ("in", "One of these."),
    ("nin", "None of these; rows without a value are kept."),
    ("isnull", "Whether the value is null."),
];

const ORDER: [(&str, &str); 4] =
    [("gt", "Greater."), ("gte", "Greater or equal."), ("lt", "Less."), ("lte", "Less or equal.")];

fn operators(kind: &TypeKind) -> Option<Vec<(&'static str, &'static str)>> {
    match kind {
        TypeKind::Scalar { kind: ScalarKind::Json, .. } => None,
        kind if is_compared(kind) => Some([EQUALITY.as_slice(), &ORDER].concat()),
        TypeKind::Scalar { .. } | TypeKind::Enum(_) => Some(EQUALITY.to_vec()),
        _ => None,
    }
}

/// Whether `gt` and its siblings make sense.
fn is_compared(kind: &TypeKind) -> bool {
    use ScalarKind as K;
    matches!(
        kind,
        TypeKind::Scalar { kind: K::Int | K::Float | K::BigInt | K::Decimal | K::Date | K::Time | K::DateTime, .. }
    )
}

fn is_ordered(kind: &TypeKind) -> bool {
    !matches!(kind, TypeKind::Scalar { kind: ScalarKind::Json, .. })
}

fn push_input(types: &mut Vec<TypeDef>, name: String, description: &str, fields: Vec<ArgDef>) -> TypeIndex {
    let fields: IndexMap<_, _> = fields.into_iter().map(|field| (field.name.clone(), field)).collect();
    types.push(TypeDef {
        path: format!("svc's {name}"),
        name,
        description: Some(description.to_owned()),
        kind: TypeKind::Input(InputDef { fields, one_of: false }),
    });
    types.len() - 1
}

fn field(name: &str, rust: &str, ty: TypeExpr) -> ArgDef {
    ArgDef {
        name: name.to_owned(),
        rust: rust.to_owned(),
        description: None,
        deprecated: None,
        ty,
        default: None,
        role: ArgRole::Declared,
    }
}

fn described(name: &str, description: &str, ty: TypeExpr) -> ArgDef {
    ArgDef { description: Some(description.to_owned()), ..field(name, name, ty) }
}

fn arg(name: &str, description: &str, ty: TypeExpr, role: ArgRole) -> ArgDef {
    ArgDef { role, ..described(name, description, ty) }
}
