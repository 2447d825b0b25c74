//! Metadata of relations, as registered by the macros.

use super::element::{ElementMeta, KeyFn, TypeFn};
use crate::schema::{Object, SvcType};

/// A field with `#[relation]`.
#[derive(Debug)]
pub struct RelationMeta {
    /// Whether it leads to multiple rows.
    pub many: bool,
    /// The type of the rows.
    pub row: KeyFn,
    /// The columns or keys on this side.
    pub from: KeyNames,
    /// The columns or keys on the other side, in the order of `from`.
    pub to: KeyNames,
    /// The junction view of the two keys, if neither row contains the other's key.
    pub through: Option<Through>,
    /// The type of the junction view's rows, if it has one.
    pub joining: Option<KeyFn>,
    /// The order of the rows if the client specifies none, or one that leaves ties.
    pub order: &'static [OrderKey],
    /// The field with pages of the rows, if enabled.
    pub connection: Option<DerivedMeta>,
    /// The field with aggregates of the rows, if enabled.
    pub aggregate: Option<DerivedMeta>,
}

/// A field derived from a relation: pages of its rows, or aggregates of them.
#[derive(Debug, Clone, Copy)]
pub struct DerivedMeta {
    /// The field's name, description and deprecation.
    pub element: ElementMeta,
    /// The field's type.
    pub ty: TypeFn,
}

/// The names of the columns or keys at one end of a relation; usually a single one.
pub type KeyNames = &'static [&'static str];

/// A junction view, with a row for each pair of related rows: many to many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Through {
    /// The view or table.
    pub source: &'static str,
    /// Its columns, or keys of `data`, that contain the keys of this side.
    pub here: KeyNames,
    /// Its columns, or keys of `data`, that contain the keys of the related rows.
    pub there: KeyNames,
}

impl RelationMeta {
    /// Makes the relation use a junction view.
    ///
    /// # Panics
    /// At compile time, if the relation leads to one row.
    #[must_use]
    pub const fn through(self, through: Through) -> Self {
        assert!(
            self.many,
            "a relation through another view leads to many rows; write `Many<T>`"
        );
        Self {
            through: Some(through),
            ..self
        }
    }

    /// Makes the relation use the view of a type as junction view; edges have the fields of that
    /// type.
    ///
    /// # Panics
    /// At compile time, if the relation leads to one row or the type has no view.
    #[must_use]
    pub const fn joining<T: SvcType + Object>(self, here: KeyNames, there: KeyNames) -> Self {
        let Some(source) = T::SOURCE else {
            panic!(
                "the type in `through` has no rows; give it the view that joins: `#[svc_type(sql_source = \"…\")]`"
            )
        };

        Self {
            joining: Some(T::register),
            ..self.through(Through {
                source,
                here,
                there,
            })
        }
    }

    /// Sets the default order of the rows.
    ///
    /// # Panics
    /// At compile time, if the relation leads to one row.
    #[must_use]
    pub const fn ordered(self, order: &'static [OrderKey]) -> Self {
        assert!(
            self.many,
            "a relation to one row has no order; remove `order_by`, or write `Many<T>`"
        );
        Self { order, ..self }
    }

    /// Adds a field with pages of the rows.
    ///
    /// # Panics
    /// At compile time, if the relation leads to one row.
    #[must_use]
    pub const fn connection(self, connection: DerivedMeta) -> Self {
        assert!(
            self.many,
            "a relation to one row has no pages; remove `connection`, or write `Many<T>`"
        );
        Self {
            connection: Some(connection),
            ..self
        }
    }

    /// Adds a field with aggregates of the rows.
    ///
    /// # Panics
    /// At compile time, if the relation leads to one row.
    #[must_use]
    pub const fn aggregate(self, aggregate: DerivedMeta) -> Self {
        assert!(
            self.many,
            "a relation to one row has nothing to aggregate; remove `aggregate`, or write `Many<T>`"
        );
        Self {
            aggregate: Some(aggregate),
            ..self
        }
    }
}

/// A key of the default order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderKey {
    /// A column or stored field; further segments after dots lead into embedded objects and related
    /// rows.
    pub column: &'static str,
    /// Whether to sort in descending order, with nulls first.
    pub descending: bool,
}
