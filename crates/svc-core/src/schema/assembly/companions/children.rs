//! `ReviewAggregateWhere` and `ReviewAggregateOrderBy`: conditions on aggregates of related rows,
//! and orders by them.

use super::Companions;
use super::inputs::{define, described, reserve};
use crate::schema::model::{ArgDef, InputRole, TypeDef, TypeExpr, TypeIndex};
use crate::schema::{AggregateFunction, family};

impl Companions<'_> {
    /// `ReviewAggregateWhere`.
    pub(super) fn aggregate_where_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> TypeIndex {
        if let Some(known) = self.aggregate_wheres.get(&row) {
            return *known;
        }

        let name = types[row].name.clone();
        let index = reserve(types, &format!("{name}AggregateWhere"));

        // Registered before its fields, because types may lead to each other.
        self.aggregate_wheres.insert(row, index);
        let mut fields = self.computed_rows(types, row);
        let int = self.common.int;
        let count = self.filter_type(types, int, family(&types[int].kind));

        fields.push(described(
            "count",
            "Conditions on how many there are.",
            TypeExpr::Named(count),
        ));

        for function in AggregateFunction::ALL {
            let Some(conditions) = self.function_having(types, row, function) else {
                continue;
            };
            let description = format!("Conditions on the {} of fields.", function.noun());
            fields.push(self.of_group(function.name(), &description, conditions));
        }

        let description = format!("Conditions on aggregates of {name}; all must hold.");
        define(types, index, InputRole::Conditions, description, fields);

        index
    }

    /// `ReviewAggregateOrderBy`.
    pub(super) fn aggregate_order_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> TypeIndex {
        if let Some(known) = self.aggregate_orders.get(&row) {
            return *known;
        }

        let name = types[row].name.clone();
        let index = reserve(types, &format!("{name}AggregateOrderBy"));

        // Registered before its fields, because types may lead to each other.
        self.aggregate_orders.insert(row, index);
        let mut fields = self.computed_rows(types, row);
        let direction = self.direction_type(types);
        fields.push(described(
            "count",
            "By how many there are.",
            TypeExpr::Named(direction),
        ));

        for function in AggregateFunction::ALL {
            let Some(order) = self.function_order(types, row, function) else {
                continue;
            };
            let description = format!("By the {} of a field.", function.noun());
            fields.push(self.of_group(function.name(), &description, order));
        }

        define(
            types,
            index,
            InputRole::Order,
            format!("An order by aggregates of {name}."),
            fields,
        );

        index
    }

    /// The condition on the aggregated rows.
    fn computed_rows(&mut self, types: &mut Vec<TypeDef>, row: TypeIndex) -> Vec<ArgDef> {
        let conditions = self.where_type(types, row).into_iter();
        conditions
            .map(|ty| {
                described(
                    "where",
                    "Of the rows that match alone.",
                    TypeExpr::Named(ty),
                )
            })
            .collect()
    }
}
