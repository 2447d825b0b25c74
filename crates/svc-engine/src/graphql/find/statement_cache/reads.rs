//! The reads that a cached statement was written for, compared with the reads of a request.

use std::sync::Arc;

use crate::graphql::context::ExecutionContext;
use crate::graphql::find::columns::{Wanted, row_fields, size};
use crate::graphql::find::computed_column::selected_call;
use crate::graphql::find::read::{PageRead, Read};
use crate::graphql::plan::{PlanField, PlanKind};
use crate::sql::{ComputedColumnCall, Order, StatementShape, Window};
use svc_core::schema::{Part, Relation, Shape};
use svc_postgres::DbError;

/// The reads of a statement: the reads below a field in statement order, followed by the field's
/// own read.
pub(super) struct Reads<'a> {
    pub(super) below: Vec<Below>,
    pub(super) own: &'a Read,
}

/// A part of the data that a statement reads for each row, with values to bind.
#[derive(Debug)]
pub(super) enum Below {
    /// The rows of a relation.
    Related(Read),
    /// The value computed by a function.
    Called(Arc<ComputedColumnCall>),
}

impl<'a> Reads<'a> {
    /// `None` if the statement can only be used for this request.
    pub(super) fn of(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        own: &'a Read,
    ) -> Result<Option<Self>, DbError> {
        let mut below = Vec::new();
        let is_kept = !field.children.relations() || collect(cx, field, &mut below)?;
        Ok(is_kept.then_some(Self { below, own }))
    }

    /// Returns the reads without their values, which come from clients and can be large.
    pub(super) fn without_values(&self) -> KeptReads {
        KeptReads {
            below: self.below.iter().map(Below::without_values).collect(),
            own: self.own.without_values(),
        }
    }

    pub(super) fn have_form_of(&self, others: &KeptReads) -> bool {
        self.below.len() == others.below.len()
            && self
                .below
                .iter()
                .zip(&others.below)
                .all(|(one, other)| one.has_form_of(other))
            && self.own.has_form_of(&others.own)
    }
}

/// The reads of a cached statement, without values.
#[derive(Debug)]
pub(super) struct KeptReads {
    below: Vec<Below>,
    own: Read,
}

impl KeptReads {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Read> {
        let related = self.below.iter().filter_map(|below| match below {
            Below::Related(read) => Some(read),
            Below::Called(_) => None,
        });
        related.chain([&self.own])
    }

    /// The number of function arguments, plus one for each call.
    pub(super) fn arguments(&self) -> usize {
        let called = self.below.iter().filter_map(|below| match below {
            Below::Called(call) => Some(call.args.len() + 1),
            Below::Related(_) => None,
        });
        called.sum()
    }
}

impl Below {
    fn without_values(&self) -> Self {
        match self {
            Self::Related(read) => Self::Related(read.without_values()),
            Self::Called(call) => Self::Called(Arc::new(call.without_values())),
        }
    }

    fn has_form_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Related(one), Self::Related(other)) => one.has_form_of(other),
            (Self::Called(one), Self::Called(other)) => one.has_form_of(other),
            _ => false,
        }
    }
}

/// Collects the reads below a field; returns `false` if the shape of one of them is specific to the
/// request.
fn collect(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    found: &mut Vec<Below>,
) -> Result<bool, DbError> {
    for field in field
        .children
        .iter()
        .flat_map(|selection| &selection.fields)
    {
        if let PlanKind::Function(function, _) = field.kind {
            found.push(Below::Called(selected_call(cx, field, function)?));
            continue;
        }

        let Some(relation) = field.relation() else {
            continue;
        };

        let is_kept = match relation.shape {
            Shape::Connection => page(cx, field, relation, found)?,
            Shape::Aggregate => aggregates(cx, field, relation, found)?,
            _ => {
                // The select list, which has the reads below, precedes the conditions in the text.
                let is_kept = collect(cx, field, found)?;
                found.push(Below::Related(Read::relation(cx, field, relation)?));
                is_kept
            }
        };

        if !is_kept {
            return Ok(false);
        }
    }

    Ok(true)
}

/// Collects the reads of a page: its count, the reads below its rows, and its rows. Returns `false`
/// if the page cannot be reused, such as one with cursor arguments: nulls in cursors change the
/// text.
fn page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    relation: Relation,
    found: &mut Vec<Below>,
) -> Result<bool, DbError> {
    let (PageRead { read, page }, wanted) =
        (Read::page_beside(cx, field, relation)?, Wanted::of(field));
    let (limit, backward) = size(&page, cx.limits)?;

    // A cursor selects the order keys, whose values are then bound a second time.
    let binds_keys = wanted.cursors && read.order.iter().any(Order::binds);

    if backward || page.after.is_some() || page.before.is_some() || binds_keys {
        return Ok(false);
    }

    // In the order of `PageRead::ask`, as values are bound in the order of the text.
    if wanted.total {
        found.push(Below::Related(Read {
            order: Vec::new(),
            ..read.clone()
        }));
    }

    if wanted.rows {
        for node in row_fields(field) {
            if !collect(cx, node, found)? {
                return Ok(false);
            }
        }

        let window = Window {
            limit: limit as i64 + 1,
            offset: 0,
        };

        found.push(Below::Related(Read {
            page: Some(window),
            ..read
        }));
    }

    Ok(true)
}

/// Collects the read of an aggregate. Returns `false` for groups, which have their own orders.
fn aggregates(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    relation: Relation,
    found: &mut Vec<Below>,
) -> Result<bool, DbError> {
    let mut below = field
        .children
        .iter()
        .flat_map(|selection| &selection.fields);
    if below.any(|field| matches!(field.kind, PlanKind::Part(Part::Groups))) {
        return Ok(false);
    }

    found.push(Below::Related(Read::beside(cx, field, relation)?));

    Ok(true)
}

pub(super) fn varying(read: &Read) -> StatementShape<'_> {
    StatementShape {
        filter: &read.filter,
        order: &read.order,
        page: read.page,
        neighbours: false,
    }
}

impl Read {
    /// Whether a statement for one read is valid for the other with other values. Connections also
    /// need the same page: its limit affects more than the values of the statement.
    fn has_form_of(&self, other: &Self) -> bool {
        if self.shape == Shape::Connection && self.page != other.page {
            return false;
        }
        let sql = |read: &Self| read.from.as_ref().map(|from| from.sql.clone());
        self.row == other.row
            && (self.from.is_none() && other.from.is_none() || sql(self) == sql(other))
            && varying(self).has_shape_of(&varying(other))
    }

    fn without_values(&self) -> Self {
        Self {
            filter: self.filter.without_values(),
            order: self.order.iter().map(Order::without_value).collect(),
            from: self
                .from
                .as_ref()
                .map(|from| Arc::new(from.without_values())),
            ..*self
        }
    }
}
