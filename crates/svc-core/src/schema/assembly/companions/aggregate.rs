//! `UserAggregate`: aggregates over all rows and over groups of them.

use super::Companions;
use super::inputs::{define, described, field, reserve};
use super::objects::{define_object, non_null, reserve_object};
use crate::schema::assembly::fields::stored_fields;
use crate::schema::model::{
    ArgDef, FieldDef, FieldKind, Gated, InputRole, Part, TypeDef, TypeExpr, TypeIndex, TypeKind,
    gate_of, is_checked,
};
use crate::schema::{AggregateFunction, Family, family};

/// A stored field with a single value, and the type of a value computed from it.
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) rust: &'static str,
    pub(super) stored: &'static str,
    pub(super) ty: TypeIndex,
    pub(super) gated: Option<Gated>,
}

impl Leaf {
    /// The field of an input object for the computed value.
    fn input(&self, ty: TypeIndex) -> ArgDef {
        ArgDef {
            gated: self.gated,
            ..field(&self.name, self.rust, TypeExpr::Named(ty))
        }
    }
}

/// All aggregates of a row type, with the group orders and conditions that use them.
pub(super) struct Computed {
    pub(super) fields: Vec<FieldDef>,
    pub(super) orders: Vec<ArgDef>,
    pub(super) conditions: Vec<ArgDef>,
}

impl Companions<'_> {
    pub(super) fn aggregate(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex, index: TypeIndex) {
        let mut computed = self.count(types);
        for function in AggregateFunction::ALL {
            let leaves = self.computed(types, row, function);
            if !leaves.is_empty() {
                self.function(types, row, function, &leaves, &mut computed);
            }
        }

        let groups = self.groups(types, row, &mut computed);
        let description = format!("Aggregates over rows of {}.", types[row].name);

        define_object(
            types,
            index,
            description,
            computed.fields.into_iter().chain(groups).collect(),
        );
    }

    fn count(&mut self, types: &mut Vec<TypeDef>) -> Computed {
        let int = self.common.int;
        let direction = self.direction_type(types);
        let filter = self.filter_type(types, int, Family::Ordered);

        Computed {
            fields: vec![self.part(
                "count",
                "The number of rows that match.",
                non_null(int),
                Part::Count,
            )],
            orders: vec![described(
                "count",
                "By how many rows there are.",
                TypeExpr::Named(direction),
            )],
            conditions: vec![described(
                "count",
                "How many rows there are.",
                TypeExpr::Named(filter),
            )],
        }
    }

    /// Adds the aggregates of a function over the given fields.
    fn function(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        function: AggregateFunction,
        leaves: &[Leaf],
        computed: &mut Computed,
    ) {
        let (name, noun) = (
            format!("{}{}", types[row].name, function.title()),
            function.noun(),
        );
        let of = types[row].name.clone();
        let object = reserve_object(types, &name);
        let values = leaves.iter().map(|leaf| result(function, leaf)).collect();

        define_object(
            types,
            object,
            format!("The {noun} of the fields of {of}."),
            values,
        );

        let description = format!(
            "The {noun} of each field; {} without values.",
            function.of_nothing()
        );
        computed.fields.push(self.part(
            function.name(),
            &description,
            non_null(object),
            Part::Function(function),
        ));

        if let Some(order) = self.function_order(types, row, function) {
            computed.orders.push(self.of_group(
                function.name(),
                &format!("By the {noun} of a field."),
                order,
            ));
        }

        if let Some(having) = self.function_having(types, row, function) {
            computed.conditions.push(self.of_group(
                function.name(),
                &format!("The {noun} of each field."),
                having,
            ));
        }
    }

    /// `UserSumOrderBy` and its siblings; `None` if no field has such an aggregate.
    pub(super) fn function_order(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        function: AggregateFunction,
    ) -> Option<TypeIndex> {
        if let Some(known) = self.function_orders.get(&(row, function)) {
            return *known;
        }

        let (name, leaves) = (types[row].name.clone(), self.computed(types, row, function));
        let order = (!leaves.is_empty())
            .then(|| reserve(types, &format!("{name}{}OrderBy", function.title())));
        self.function_orders.insert((row, function), order);
        let direction = self.direction_type(types);
        let keys = leaves.iter().map(|leaf| leaf.input(direction)).collect();
        let description = format!("An order by the {} of fields of {name}.", function.noun());

        define(types, order?, InputRole::Order, description, keys);

        order
    }

    /// `UserSumHaving` and its siblings; `None` if no field has such an aggregate.
    pub(super) fn function_having(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
        function: AggregateFunction,
    ) -> Option<TypeIndex> {
        if let Some(known) = self.function_havings.get(&(row, function)) {
            return *known;
        }

        let (name, leaves) = (types[row].name.clone(), self.computed(types, row, function));
        let having = (!leaves.is_empty())
            .then(|| reserve(types, &format!("{name}{}Having", function.title())));
        self.function_havings.insert((row, function), having);
        let mut filters = Vec::with_capacity(leaves.len());
        for leaf in &leaves {
            let filter = self.filter_type(types, leaf.ty, family(&types[leaf.ty].kind));
            filters.push(leaf.input(filter));
        }

        let description = format!(
            "Conditions on the {} of fields of {name}; all must hold.",
            function.noun()
        );
        define(types, having?, InputRole::Conditions, description, filters);

        having
    }

    /// A field of an input object for groups.
    pub(super) fn of_group(&self, rust: &str, description: &str, ty: TypeIndex) -> ArgDef {
        ArgDef {
            rust: rust.to_owned(),
            ..described(&self.naming.apply(rust), description, TypeExpr::Named(ty))
        }
    }

    /// The fields that a function applies to.
    fn computed(
        &self,
        types: &[TypeDef],
        row: TypeIndex,
        function: AggregateFunction,
    ) -> Vec<Leaf> {
        leaves(types, row, |ty| {
            let result = function.result(&types[ty].kind)?;
            let is_same = matches!(types[ty].kind, TypeKind::Scalar { kind, .. } if kind == result);
            if is_same {
                Some(ty)
            } else {
                self.common.number(result)
            }
        })
    }
}

/// The stored fields with a single value that have a `result`.
pub(super) fn leaves(
    types: &[TypeDef],
    row: TypeIndex,
    result: impl Fn(TypeIndex) -> Option<TypeIndex>,
) -> Vec<Leaf> {
    let fields = stored_fields(types, row)
        .into_iter()
        .filter(|field| !field.ty.is_list());

    // A check decides for each object, and an aggregate has no object to decide on.
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

/// The field with the result of a function over another field.
fn result(function: AggregateFunction, leaf: &Leaf) -> FieldDef {
    let ty = match function {
        // Without rows a count is 0, and all other functions are null.
        AggregateFunction::CountDistinct => non_null(leaf.ty),
        _ => TypeExpr::Named(leaf.ty),
    };
    FieldDef {
        ty,
        ..value(leaf, format!("The {} of `{}`.", function.noun(), leaf.name))
    }
}

/// A field of a generated object, with its own value for a stored field.
pub(super) fn value(leaf: &Leaf, description: String) -> FieldDef {
    FieldDef {
        name: leaf.name.clone(),
        rust: leaf.rust,
        path: format!("svc's {}", leaf.rust),
        description: Some(description),
        deprecated: None,
        ty: TypeExpr::Named(leaf.ty),
        args: Vec::new(),
        kind: FieldKind::Stored {
            // A generated type has no struct, so the position means nothing.
            index: 0,
            stored: leaf.stored,
        },
        gated: leaf.gated,
        guards: &[],
        is_authorized: false,
        checks: &[],
        is_boundary: false,
    }
}
