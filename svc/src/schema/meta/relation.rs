//! Relations, as macros register them.

use super::element::{ElementMeta, KeyFn, TypeFn};
use crate::schema::{Object, SvcType};

/// A field with `#[relation]`.
#[derive(Debug)]
pub struct RelationMeta {
    /// Whether it leads to any number of rows.
    pub many: bool,
    /// The type of the rows.
    pub row: KeyFn,
    /// The columns or keys here.
    pub from: KeyNames,
    /// The columns or keys there, each to be compared with that in its place here.
    pub to: KeyNames,
    /// The view that joins the two keys, where none of the rows holds the other's.
    pub through: Option<Through>,
    /// The type of the rows of that view, where it has one.
    pub joining: Option<KeyFn>,
    /// The order of the rows where a client asks for none, or for one that leaves ties.
    pub order: &'static [OrderKey],
    /// The field with pages of the rows, where it is offered.
    pub connection: Option<BesideMeta>,
    /// The field with aggregates of the rows, where it is offered.
    pub aggregate: Option<BesideMeta>,
}

/// A field that is offered beside a relation: pages of its rows, or aggregates of them.
#[derive(Debug, Clone, Copy)]
pub struct BesideMeta {
    /// Its names.
    pub element: ElementMeta,
    /// Its type.
    pub ty: TypeFn,
}

/// The names of the columns or keys at one end of a relation; most have one.
pub type KeyNames = &'static [&'static str];

/// A view with a row for each pair of rows that belong together: many to many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Through {
    /// The view or table.
    pub source: &'static str,
    /// Its columns, or keys of `data`, with the keys of this side.
    pub here: KeyNames,
    /// Its columns, or keys of `data`, with the keys of the rows.
    pub there: KeyNames,
}

impl RelationMeta {
    /// The relation through a view that joins the keys.
    ///
    /// # Panics
    /// While the program is compiled, where the relation leads to one row.
    #[must_use]
    pub const fn through(self, through: Through) -> Self {
        assert!(self.many, "a relation through another view leads to many rows; write `Many<T>`");
        Self { through: Some(through), ..self }
    }

    /// The relation through the view of a type, whose fields stand beside the rows.
    ///
    /// # Panics
    /// While the program is compiled, where the relation leads to one row or the type has no view.
    #[must_use]
    pub const fn joining<T: SvcType + Object>(self, here: KeyNames, there: KeyNames) -> Self {
        let Some(source) = T::SOURCE else {
            panic!("the type in `through` has no rows; give it the view that joins: `#[svc_type(sql_source = \"…\")]`")
        };
        Self { joining: Some(T::register), ..self.through(Through { source, here, there }) }
    }

    /// The relation with its rows in an order.
    ///
    /// # Panics
    /// While the program is compiled, where the relation leads to one row.
    #[must_use]
    pub const fn ordered(self, order: &'static [OrderKey]) -> Self {
        assert!(self.many, "a relation to one row has no order; remove `order_by`, or write `Many<T>`");
        Self { order, ..self }
    }

    /// The relation with pages of its rows beside it.
    ///
    /// # Panics
    /// While the program is compiled, where the relation leads to one row.
    #[must_use]
    pub const fn connection(self, connection: BesideMeta) -> Self {
        assert!(self.many, "a relation to one row has no pages; remove `connection`, or write `Many<T>`");
        Self { connection: Some(connection), ..self }
    }

    /// The relation with aggregates of its rows beside it.
    ///
    /// # Panics
    /// While the program is compiled, where the relation leads to one row.
    #[must_use]
    pub const fn aggregate(self, aggregate: BesideMeta) -> Self {
        assert!(self.many, "a relation to one row has nothing to aggregate; remove `aggregate`, or write `Many<T>`");
        Self { aggregate: Some(aggregate), ..self }
    }
}

/// A key of the order of rows where a client asks for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderKey {
    /// A column or stored field; further segments behind dots lead into embedded objects and related rows.
    pub column: &'static str,
    /// Whether the largest value comes first, nulls before it.
    pub descending: bool,
}
