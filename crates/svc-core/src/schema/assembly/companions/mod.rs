//! Types that the framework generates from the user's types: `UserWhere`, `UserOrderBy`, and their
//! nested types.

mod aggregate;
mod arguments;
mod children;
mod conditions;
mod connection;
mod functions;
mod group_keys;
mod groups;
mod inputs;
mod joined;
mod keys;
mod objects;
mod operands;
mod orders;

pub(super) use joined::edge_fields;

use std::collections::HashMap;

use self::functions::RowFunction;
use self::inputs::{field, reserve};
use super::fields::{aggregates, relations, row_functions, stored_fields};
use super::{Dialect, expr};
use crate::schema::model::{
    ArgDef, ArgRole, Gated, TypeDef, TypeExpr, TypeIndex, gate_of, is_checked,
};
use crate::schema::registration::{Derived, Entry};
use crate::schema::{AggregateFunction, Family, Input, Naming, Registry, ScalarKind};

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
    // The scalars would otherwise appear in schemas that use no aggregates.
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
    // No operator compares lists of lists.
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
        // A check decides for each object, and a condition has no object to decide on.
        .filter(|part| !is_checked(types, row, part.rust))
        .collect()
}
