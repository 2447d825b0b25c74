//! The arguments of lists and of connections.

use super::Companions;
use super::inputs::{arg, list_of};
use crate::schema::model::{ArgDef, ArgRole, TypeDef, TypeExpr, TypeIndex};

impl Companions<'_> {
    /// `where`, `orderBy`, `limit` and `offset` for a list of `row`.
    pub(in crate::schema::assembly) fn list_args(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> Vec<ArgDef> {
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
    pub(in crate::schema::assembly) fn connection_args(
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
    pub(in crate::schema::assembly) fn where_arg(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> Vec<ArgDef> {
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

    pub(super) fn order_arg_of(&self, order: TypeIndex) -> ArgDef {
        let name = self.naming.apply("order_by");
        arg(
            &name,
            "The order, most significant key first.",
            list_of(order),
            ArgRole::OrderBy,
        )
    }
}
