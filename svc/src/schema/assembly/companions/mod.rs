//! Types that the framework generates from the user's types: `UserWhere`, `UserOrderBy`, and their
//! nested types.

mod aggregate;
mod children;
mod connection;
mod functions;
mod group_keys;
mod groups;
mod joined;
mod keys;
mod objects;
mod operands;

pub(super) use joined::edge_fields;

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use self::functions::RowFunction;
use super::fields::{aggregates, relations, row_functions, stored_fields};
use super::{Dialect, expr};
use crate::schema::gated_fields::{gate_of, is_checked};
use crate::schema::model::{
    ArgDef, ArgRole, EnumDef, EnumValue, Gated, InputDef, InputRole, TypeDef, TypeExpr, TypeIndex,
    TypeKind,
};
use crate::schema::registry::{Derived, Entry};
use crate::schema::{AggregateFunction, Input, Naming, Registry, ScalarKind};
use crate::schema::{Family, Operand, family};

/// The scalars used by companion types.
pub(super) struct Common {
    int: TypeIndex,
    boolean: TypeIndex,
    string: TypeIndex,
    /// The scalars of sums and averages, if the program uses aggregates.
    numbers: Vec<(ScalarKind, TypeIndex)>,
    /// The scalar of dates, if the program uses a range of dates.
    date: Option<TypeIndex>,
}

impl Common {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            int: expr(&<i32 as Input>::type_ref(registry)).named(),
            boolean: expr(&<bool as Input>::type_ref(registry)).named(),
            string: expr(&<String as Input>::type_ref(registry)).named(),
            numbers: numbers(registry),
            date: operands::date(registry),
        }
    }

    fn number(&self, kind: ScalarKind) -> Option<TypeIndex> {
        if kind == ScalarKind::Int {
            return Some(self.int);
        }
        self.numbers
            .iter()
            .find(|(known, _)| *known == kind)
            .map(|(_, index)| *index)
    }
}

fn numbers(registry: &mut Registry) -> Vec<(ScalarKind, TypeIndex)> {
    if !registry
        .entries
        .iter()
        .any(|entry| matches!(entry, Entry::Derived(Derived::Aggregate, _)))
    {
        return Vec::new();
    }

    let (integer, float, decimal) = (
        <i64 as Input>::type_ref(registry),
        <f64 as Input>::type_ref(registry),
        <rust_decimal::Decimal as Input>::type_ref(registry),
    );

    let numbers = [
        (ScalarKind::BigInt, integer),
        (ScalarKind::Float, float),
        (ScalarKind::Decimal, decimal),
    ];

    numbers
        .into_iter()
        .map(|(kind, ty)| (kind, expr(&ty).named()))
        .collect()
}

/// Generates each companion type once.
pub(super) struct Companions<'a> {
    common: &'a Common,
    naming: Naming,
    regular_expressions: bool,
    direction: Option<TypeIndex>,
    filters: HashMap<(TypeIndex, Family), TypeIndex>,
    wheres: HashMap<TypeIndex, Option<TypeIndex>>,
    lists: HashMap<TypeIndex, TypeIndex>,
    orders: HashMap<TypeIndex, Option<TypeIndex>>,
    aggregate_wheres: HashMap<TypeIndex, TypeIndex>,
    aggregate_orders: HashMap<TypeIndex, TypeIndex>,
    function_orders: HashMap<(TypeIndex, AggregateFunction), Option<TypeIndex>>,
    /// The conditions on an aggregate function's results for a type's fields.
    function_havings: HashMap<(TypeIndex, AggregateFunction), Option<TypeIndex>>,
    /// The reserved indexes of types that have a Rust type.
    reserved: HashMap<(Derived, TypeIndex), TypeIndex>,
    pub(super) page_info: Option<TypeIndex>,
    /// The input objects for operators, by name.
    operands: HashMap<String, TypeIndex>,
    /// The orders of rows by their junction rows, by name.
    joined_orders: HashMap<String, TypeIndex>,
}

impl<'a> Companions<'a> {
    pub(super) fn new(
        common: &'a Common,
        dialect: Dialect,
        derived: &[(Derived, TypeIndex, TypeIndex)],
    ) -> Self {
        Self {
            common,
            reserved: derived
                .iter()
                .map(|(derived, row, index)| ((*derived, *row), *index))
                .collect(),
            page_info: None,
            naming: dialect.naming,
            regular_expressions: dialect.regular_expressions,
            direction: None,
            filters: HashMap::new(),
            wheres: HashMap::new(),
            lists: HashMap::new(),
            orders: HashMap::new(),
            aggregate_wheres: HashMap::new(),
            aggregate_orders: HashMap::new(),
            function_orders: HashMap::new(),
            function_havings: HashMap::new(),
            operands: HashMap::new(),
            joined_orders: HashMap::new(),
        }
    }

    /// `where`, `orderBy`, `limit` and `offset` for a list of `row`.
    pub(super) fn list_args(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Vec<ArgDef> {
        let mut args = self.where_arg(types, row);
        args.extend(self.order_arg(types, row));
        let int = TypeExpr::Named(self.common.int);
        args.push(arg(
            "limit",
            "At most this many rows.",
            int.clone(),
            ArgRole::Limit,
        ));

        args.push(arg("offset", "Skips this many rows.", int, ArgRole::Offset));

        args
    }

    /// `first`, `after`, `last`, `before`, `where` and `orderBy` for a connection of `row`.
    pub(super) fn connection_args(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> Vec<ArgDef> {
        let (int, string) = (
            TypeExpr::Named(self.common.int),
            TypeExpr::Named(self.common.string),
        );
        let mut args = vec![
            arg(
                "first",
                "At most this many rows, from the start.",
                int.clone(),
                ArgRole::First,
            ),
            arg(
                "after",
                "Only rows after the one with this cursor.",
                string.clone(),
                ArgRole::After,
            ),
            arg(
                "last",
                "At most this many rows, from the end.",
                int,
                ArgRole::Last,
            ),
            arg(
                "before",
                "Only rows before the one with this cursor.",
                string,
                ArgRole::Before,
            ),
        ];

        args.extend(self.where_arg(types, row));
        args.extend(self.order_arg(types, row));

        args
    }

    /// `where`, if the type has anything to filter by.
    pub(super) fn where_arg(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Vec<ArgDef> {
        let index = self.where_type(types, row);
        index
            .map(|index| {
                arg(
                    "where",
                    "Only rows that match.",
                    TypeExpr::Named(index),
                    ArgRole::Where,
                )
            })
            .into_iter()
            .collect()
    }

    fn order_arg(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Option<ArgDef> {
        self.order_type(types, row)
            .map(|order| self.order_arg_of(order))
    }

    fn order_arg_of(&self, order: TypeIndex) -> ArgDef {
        let name = self.naming.apply("order_by");
        arg(
            &name,
            "The order, most significant key first.",
            list_of(order),
            ArgRole::OrderBy,
        )
    }

    /// Fills in the types that have a Rust type.
    pub(super) fn derive(
        &mut self,
        types: &mut Vec<TypeDef>,
        derived: &[(Derived, TypeIndex, TypeIndex)],
    ) {
        for (derived, row, index) in derived {
            match derived {
                Derived::Connection => self.connection(types, *row, *index),
                Derived::Aggregate => self.aggregate(types, *row, *index),
                Derived::Where => drop(self.where_type(types, *row)),
                Derived::OrderBy => drop(self.order_type(types, *row)),
            }
        }
    }

    /// The row type of a page or an aggregate.
    pub(super) fn row_of(&self, index: TypeIndex) -> Option<TypeIndex> {
        self.reserved
            .iter()
            .find(|(_, derived)| **derived == index)
            .map(|((_, row), _)| *row)
    }

    /// The reserved index of a type that has a Rust type, or else a new one.
    fn place(
        &self,
        types: &mut Vec<TypeDef>,
        derived: Derived,
        row: TypeIndex,
        name: &str,
    ) -> TypeIndex {
        self.reserved
            .get(&(derived, row))
            .copied()
            .unwrap_or_else(|| reserve(types, name))
    }

    /// `UserWhere`; `None` if the type has nothing to filter by.
    fn where_type(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Option<TypeIndex> {
        if let Some(known) = self.wheres.get(&row) {
            return *known;
        }

        if row_fields(types, row).is_empty() {
            // A union whose rows share no field.
            self.wheres.insert(row, None);
            return None;
        }

        let name = format!("{}Where", types[row].name);
        let index = self.place(types, Derived::Where, row, &name);

        // Registered before its fields, because types may embed each other.
        self.wheres.insert(row, Some(index));
        let parts = row_fields(types, row);
        let mut fields: Vec<ArgDef> = parts
            .iter()
            .filter_map(|part| self.condition(types, part))
            .collect();
        self.key_conditions(types, row, &mut fields);
        let itself = TypeExpr::Named(index);
        fields.push(described("AND", "All of these.", list_of(index)));
        fields.push(described("OR", "Any of these.", list_of(index)));
        fields.push(described("NOT", "Not this.", itself));
        let description = format!("Conditions on {}; all must hold.", types[row].name);
        define(types, index, InputRole::Conditions, description, fields);

        Some(index)
    }

    /// The condition on one field.
    fn condition(&mut self, types: &mut Vec<TypeDef>, part: &RowField) -> Option<ArgDef> {
        let ty = match (&types[part.named].kind, part.list) {
            _ if part.is_aggregate => self.aggregate_where_type(types, part.named),
            (TypeKind::Abstract(_), _) if !part.is_relation => return None,
            (TypeKind::Object(_) | TypeKind::Abstract(_), false) => {
                self.where_type(types, part.named)?
            }
            (TypeKind::Object(_) | TypeKind::Abstract(_), true) => {
                self.list_where_type(types, part.named)?
            }
            _ if part.function.is_some() => self.computed_filter(types, part),
            (_, true) => self.filter_type(types, part.named, Family::List),
            (kind, false) => {
                let family = family(kind);
                self.filter_type(types, part.named, family)
            }
        };

        Some(part.field(ty))
    }

    /// `CommentListWhere`: conditions on the elements of an embedded list.
    fn list_where_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        element: TypeIndex,
    ) -> Option<TypeIndex> {
        if let Some(known) = self.lists.get(&element) {
            return Some(*known);
        }

        if row_fields(types, element).is_empty() {
            return None;
        }

        let index = reserve(types, &format!("{}ListWhere", types[element].name));
        self.lists.insert(element, index);
        let inner = TypeExpr::Named(self.where_type(types, element)?);
        let fields = vec![
            described("some", "At least one element matches.", inner.clone()),
            described("every", "All elements match.", inner.clone()),
            described("none", "No element matches.", inner),
        ];

        let description = format!(
            "Conditions on a list of {}; all must hold.",
            types[element].name
        );
        define(types, index, InputRole::Quantifiers, description, fields);

        Some(index)
    }

    /// `UUIDFilter` and its siblings, for one scalar or enum, or a list of it.
    fn filter_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        leaf: TypeIndex,
        family: Family,
    ) -> TypeIndex {
        if let Some(known) = self.filters.get(&(leaf, family)) {
            return *known;
        }

        let (suffix, what) = if family == Family::List {
            ("ListFilter", "a list of ")
        } else {
            ("Filter", "a ")
        };

        let index = reserve(types, &format!("{}{suffix}", types[leaf].name));
        let operators = family.operators().into_iter();
        let regular_expressions = self.regular_expressions;
        let allowed =
            operators.filter(|def| regular_expressions || !def.operator.takes_expression());
        let fields = allowed.map(|def| {
            let ty = match def.operand {
                Operand::Same | Operand::Json => TypeExpr::Named(leaf),
                Operand::List => list_of(leaf),
                Operand::Boolean => TypeExpr::Named(self.common.boolean),
                Operand::Int => TypeExpr::Named(self.common.int),
                Operand::String => TypeExpr::Named(self.common.string),
                Operand::Strings => list_of(self.common.string),
                Operand::Range => TypeExpr::Named(self.range_type(types, leaf)),
                Operand::Date => TypeExpr::Named(self.common.date.unwrap_or(self.common.string)),
            };

            let name = self.operator_name(def);
            let role = ArgRole::Comparison(def.operator.weight());
            ArgDef {
                rust: def.name.to_owned(),
                role,
                ..described(&name, def.description, ty)
            }
        });

        let fields = fields.collect();
        let description = format!("Conditions on {what}{}; all must hold.", types[leaf].name);
        define(types, index, InputRole::Operators, description, fields);
        self.filters.insert((leaf, family), index);

        index
    }

    /// `UserOrderBy`; `None` if the type has nothing to order by.
    fn order_type(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Option<TypeIndex> {
        if let Some(known) = self.orders.get(&row) {
            return *known;
        }

        if !has_order(types, row) {
            self.orders.insert(row, None);
            return None;
        }

        let name = format!("{}OrderBy", types[row].name);
        let index = self.place(types, Derived::OrderBy, row, &name);
        self.orders.insert(row, Some(index));
        let direction = self.direction_type(types);
        let mut fields = Vec::new();
        for part in row_fields(types, row)
            .iter()
            .filter(|part| !part.list || part.is_aggregate)
        {
            fields.extend(self.order_key(types, part, direction));
        }

        let description = format!("An order of {}.", types[row].name);
        define(types, index, InputRole::Order, description, fields);

        Some(index)
    }

    /// The order by one field.
    fn order_key(
        &mut self,
        types: &mut Vec<TypeDef>,
        part: &RowField,
        direction: TypeIndex,
    ) -> Option<ArgDef> {
        let ty = match &types[part.named].kind {
            _ if part.is_aggregate => Some(self.aggregate_order_type(types, part.named)),
            TypeKind::Object(_) => self.order_type(types, part.named),
            TypeKind::Scalar {
                kind: ScalarKind::Json,
                ..
            } => None,
            _ if part.function.is_some() => Some(self.computed_order(types, part, direction)),
            TypeKind::Abstract(_) if part.is_relation => self.order_type(types, part.named),
            TypeKind::Abstract(_) => None,
            kind if family(kind) == Family::Search => {
                Some(self.rank_type(types, part.named, direction))
            }
            _ => Some(direction),
        };

        ty.map(|ty| part.field(ty))
    }

    fn direction_type(&mut self, types: &mut Vec<TypeDef>) -> TypeIndex {
        *self.direction.get_or_insert_with(|| {
            let value = |name: &'static str, description: &'static str| EnumValue {
                name: name.into(),
                stored: name,
                description: Some(description.into()),
                deprecated: None,
                group_key: None,
            };

            types.push(TypeDef {
                name: "OrderDirection".to_owned(),
                description: Some("The direction of an order, and where nulls go.".to_owned()),
                path: "svc's OrderDirection".to_owned(),
                kind: TypeKind::Enum(EnumDef {
                    values: Arc::new([
                        value("ASC", "Smallest first, nulls last."),
                        value("DESC", "Largest first, nulls first."),
                        value("ASC_NULLS_FIRST", "Smallest first, nulls first."),
                        value("ASC_NULLS_LAST", "Smallest first, nulls last."),
                        value("DESC_NULLS_FIRST", "Largest first, nulls first."),
                        value("DESC_NULLS_LAST", "Largest first, nulls last."),
                    ]),
                }),
            });

            types.len() - 1
        })
    }
}

/// Whether a type has a scalar or enum to order by.
fn has_order(types: &[TypeDef], row: TypeIndex) -> bool {
    let unordered = |kind: &TypeKind| {
        matches!(
            kind,
            TypeKind::Object(_)
                | TypeKind::Abstract(_)
                | TypeKind::Scalar {
                    kind: ScalarKind::Json,
                    ..
                }
        )
    };

    row_fields(types, row)
        .iter()
        .any(|part| part.is_aggregate || (!part.list && !unordered(&types[part.named].kind)))
}

/// A stored field, a computed field or a relation, independent of the list of types.
struct RowField {
    name: String,
    rust: &'static str,
    named: TypeIndex,
    list: bool,
    is_relation: bool,
    /// Whether it represents aggregates over the rows of a relation.
    is_aggregate: bool,
    /// Set if a function computes the value.
    function: Option<RowFunction>,
    gated: Option<Gated>,
}

impl RowField {
    /// Its field in a `where` or an `orderBy`.
    fn field(&self, ty: TypeIndex) -> ArgDef {
        let role = match &self.function {
            Some(function) => ArgRole::Computed(function.cost),
            None if self.is_relation => ArgRole::Hop,
            None => ArgRole::Declared,
        };

        ArgDef {
            role,
            gated: self.gated,
            ..field(&self.name, self.rust, TypeExpr::Named(ty))
        }
    }
}

/// The stored fields, computed fields and relations that rows can be filtered and ordered by.
/// Excludes lists of lists, and fields whose checks need the object.
fn row_fields(types: &[TypeDef], row: TypeIndex) -> Vec<RowField> {
    let fields = stored_fields(types, row)
        .into_iter()
        .chain(row_functions(types, row));
    let fields = fields.filter(|field| match field.ty.unwrapped() {
        TypeExpr::List(inner) => !inner.is_list(),
        _ => true,
    });
    let part = |field: &crate::schema::model::FieldDef| RowField {
        name: field.name.clone(),
        rust: field.rust,
        named: field.ty.named(),
        list: field.ty.is_list(),
        is_relation: false,
        is_aggregate: false,
        function: RowFunction::of(types, row, field),
        gated: gate_of(types, row, field.rust),
    };

    let related = relations(types, row)
        .into_iter()
        .map(|(field, relation)| RowField {
            name: field.name.clone(),
            rust: field.rust,
            named: relation.row,
            list: relation.is_many(),
            is_relation: true,
            is_aggregate: false,
            function: None,
            gated: gate_of(types, row, field.rust),
        });

    let computed = aggregates(types, row)
        .into_iter()
        .map(|(field, relation)| RowField {
            name: field.name.clone(),
            rust: field.rust,
            named: relation.row,
            list: true,
            is_relation: true,
            is_aggregate: true,
            function: None,
            gated: gate_of(types, row, field.rust),
        });

    fields
        .map(part)
        .chain(related)
        .chain(computed)
        .filter(|part| !is_checked(types, row, part.rust))
        .collect()
}

/// Reserves an index for an input type that is filled in later.
fn reserve(types: &mut Vec<TypeDef>, name: &str) -> TypeIndex {
    types.push(TypeDef {
        name: name.to_owned(),
        description: None,
        path: format!("svc's {name}"),
        kind: TypeKind::Input(InputDef {
            fields: IndexMap::new(),
            one_of: false,
            role: InputRole::Declared,
        }),
    });
    types.len() - 1
}

fn define(
    types: &mut [TypeDef],
    index: TypeIndex,
    role: InputRole,
    description: String,
    fields: Vec<ArgDef>,
) {
    let fields = fields
        .into_iter()
        .map(|field| (field.name.clone(), field))
        .collect();
    types[index].description = Some(description);
    types[index].kind = TypeKind::Input(InputDef {
        fields,
        one_of: false,
        role,
    });
}

fn list_of(index: TypeIndex) -> TypeExpr {
    TypeExpr::List(Box::new(TypeExpr::NonNull(Box::new(TypeExpr::Named(
        index,
    )))))
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
        slot: 0,
        spread: false,
        gated: None,
        nested: None,
        rules: Arc::default(),
    }
}

fn described(name: &str, description: &str, ty: TypeExpr) -> ArgDef {
    ArgDef {
        description: Some(description.to_owned()),
        ..field(name, name, ty)
    }
}

impl ArgDef {
    /// An argument that the framework adds to a root field.
    pub(super) fn described(name: &str, description: &str, ty: TypeExpr) -> Self {
        described(name, description, ty)
    }
}

fn arg(name: &str, description: &str, ty: TypeExpr, role: ArgRole) -> ArgDef {
    ArgDef {
        role,
        ..described(name, description, ty)
    }
}
