//! Pages: the parts that a statement reads for a page, and their positions in its rows.

use super::Columns;
use crate::graphql::complete::cursor::{decode, mark};
use crate::graphql::complete::{EdgeShape, PageShape, RowShape, address};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::read::PageRead;
use crate::graphql::plan::{Calls, PlanField, PlanKind};
use crate::limits::Limits;
use crate::repository::{CursorPage, check_size};
use crate::sql::{
    Filter, Keyset, Order, Query, Selected, Subquery, Views, Window, order_keys, record_types,
};
use svc_core::schema::{Part, Relation, TypeIndex};
use svc_postgres::DbError;

/// The parts of a page that a client selects.
#[derive(Default)]
pub(in crate::graphql::find) struct Wanted {
    pub(in crate::graphql::find) rows: bool,
    pub(in crate::graphql::find) total: bool,
    pub(in crate::graphql::find) next: bool,
    pub(in crate::graphql::find) previous: bool,
    pub(in crate::graphql::find) cursors: bool,
}

impl Wanted {
    pub(in crate::graphql::find) fn of(field: &PlanField) -> Self {
        let mut wanted = Self::default();
        for field in field
            .children
            .iter()
            .flat_map(|selection| &selection.fields)
        {
            let below = || {
                field
                    .children
                    .iter()
                    .flat_map(|selection| &selection.fields)
            };

            match field.kind {
                PlanKind::Part(Part::TotalCount) => wanted.total = true,
                PlanKind::Part(Part::Nodes) => wanted.rows = true,
                PlanKind::Part(Part::Edges) => {
                    wanted.rows = true;
                    wanted.cursors |=
                        below().any(|field| matches!(field.kind, PlanKind::Part(Part::Cursor)));
                }
                PlanKind::Part(Part::PageInfo) => {
                    for field in below() {
                        match field.kind {
                            PlanKind::Part(Part::HasNextPage) => wanted.next = true,
                            PlanKind::Part(Part::HasPreviousPage) => wanted.previous = true,
                            PlanKind::Part(_) => wanted.cursors = true,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }

        // `pageInfo` is computed from the rows, even if no row is selected.
        wanted.rows |= wanted.next || wanted.previous || wanted.cursors;

        wanted
    }

    pub(in crate::graphql::find) fn all() -> Self {
        Self {
            rows: true,
            total: false,
            next: true,
            previous: true,
            cursors: true,
        }
    }

    /// Whether the client asks if there are rows on the other side of the page, opposite to the
    /// reading direction.
    fn beyond(&self, backward: bool) -> bool {
        if backward { self.next } else { self.previous }
    }
}

/// Returns the fields of a page whose values are its rows: each selected `nodes` and `node`.
pub(in crate::graphql::find) fn row_fields(field: &PlanField) -> Vec<&PlanField> {
    let mut found: Vec<&PlanField> = Vec::new();
    for part in field
        .children
        .iter()
        .flat_map(|selection| &selection.fields)
    {
        let below = || part.children.iter().flat_map(|selection| &selection.fields);
        match part.kind {
            PlanKind::Part(Part::Nodes) => found.push(part),
            PlanKind::Part(Part::Edges) => {
                found.extend(
                    below().filter(|field| matches!(field.kind, PlanKind::Part(Part::Node))),
                );
            }
            _ => {}
        }
    }

    found
}

/// Whether methods of the rows are selected, which need whole rows.
pub(in crate::graphql::find) fn needs_whole_rows(field: &PlanField) -> bool {
    row_fields(field)
        .iter()
        .any(|node| node.children.calls() > Calls::None)
}

/// The shapes of a page's rows for each selected `nodes` and `node`.
type ShapesOfPage = Vec<(usize, RowShape)>;

/// Returns the select list for the rows of a page, and the shape of the rows for each field that
/// has them as values.
pub(in crate::graphql::find) fn row_shapes(
    cx: &ExecutionContext<'_>,
    views: Views<'_>,
    field: &PlanField,
    row: TypeIndex,
) -> Result<(Vec<Selected>, ShapesOfPage), DbError> {
    let mut columns = Columns::new(views, row)?;
    let shapes = row_fields(field)
        .into_iter()
        .map(|node| Ok((address(node), columns.shape(cx, node, row)?)));
    let shapes = shapes.collect::<Result<_, DbError>>()?;
    Ok((columns.finish().0, shapes))
}

/// Adds the fields of the join table rows to the select list of a page, and returns their shapes
/// for each selected `edges`.
pub(in crate::graphql::find) fn edge_shapes(
    cx: &ExecutionContext<'_>,
    views: Views<'_>,
    field: &PlanField,
    relation: Relation,
    list: &mut Vec<Selected>,
) -> Result<Vec<EdgeShape>, DbError> {
    let Some(joining) = relation.joining else {
        return Ok(Vec::new());
    };

    let has_fields = |edges: &&PlanField| {
        let mut below = edges
            .children
            .iter()
            .flat_map(|selection| &selection.fields);
        matches!(edges.kind, PlanKind::Part(Part::Edges))
            && below.any(|field| field.stored().is_some())
    };

    let edges = field
        .children
        .iter()
        .flat_map(|selection| &selection.fields)
        .filter(has_fields);

    let shapes = edges.map(|edges| {
        let mut columns = Columns::new(views, joining)?;
        let shape = columns.shape(cx, edges, joining)?;
        let of_edge = Query::new(joining, Filter::All(Vec::new()));
        let query = Query {
            list: columns.finish().0,
            careful: cx.careful,
            ..of_edge
        };

        let types = record_types(views, &query)?;
        list.push(Selected::Edge(Box::new(query)));

        Ok(EdgeShape {
            field: address(edges),
            column: list.len() - 1,
            shape: RowShape { types, ..shape },
        })
    });

    shapes.collect()
}

impl PageRead {
    /// Adds the parts of the page to a statement, with `list` selected for each row; `add` returns
    /// their positions.
    pub(in crate::graphql::find) fn ask(
        self,
        views: Views<'_>,
        limits: &Limits,
        mut list: Vec<Selected>,
        wanted: &Wanted,
        careful: bool,
        mut add: impl FnMut(Subquery) -> usize,
    ) -> Result<PageShape, DbError> {
        let Self { read, page } = self;
        let (limit, backward) = size(&page, limits)?;
        let all = Query {
            careful,
            ..read.clone().matching()
        };

        let mut query = page_rows(&all, &read.order, limit, backward);
        let mark = order_mark(views, &query, wanted)?;
        let bounds = Bounds::of(&page, mark)?;
        query.past = bounds.keysets();

        let mut shape = PageShape {
            limit,
            backward,
            ..PageShape::default()
        };

        // The mark depends on the values in the order, so without cursors a cached shape omits it.
        if wanted.cursors {
            shape.mark = mark;
            shape.keys = Some(list.len());
            list.push(Selected::OrderKeys);
        }

        // Without a cursor the page begins at the end of the list, and no row can be beyond it.
        if wanted.beyond(backward)
            && let Some(start) = bounds.start(backward)
        {
            let rows = rows_beyond(&all, &query.order, start);
            shape.beyond = Some(add(Subquery::Exists(rows)));
        }

        // The count is about the whole list, so the cursors do not restrict it.
        if wanted.total {
            shape.total = Some(add(Subquery::Count(Query {
                list: vec![Selected::Count],
                ..all
            })));
        }

        if wanted.rows {
            let query = Query { list, ..query };
            shape.types = record_types(views, &query)?;
            shape.rows = Some(add(Subquery::Rows(query)));
        }

        Ok(shape)
    }
}

/// Returns the query for the rows of a page, without the bounds of its cursors.
fn page_rows(all: &Query, order: &[Order], limit: usize, backward: bool) -> Query {
    Query {
        order: order.to_vec(),
        // Reads one extra row to detect whether more rows follow.
        page: Some(Window {
            limit: limit as i64 + 1,
            offset: 0,
        }),
        backward,
        ..all.clone()
    }
}

/// Returns the mark of the order of a page, which its cursors contain.
///
/// # Errors
/// If rows are wanted and have no order.
fn order_mark(views: Views<'_>, query: &Query, wanted: &Wanted) -> Result<u32, DbError> {
    // With cursors, the order has the unique last key in every case, and the mark has to include
    // it.
    let with_cursors = Query {
        list: vec![Selected::OrderKeys],
        ..query.clone()
    };

    let order = order_keys(views, &with_cursors)?;
    if order.is_empty() && wanted.rows {
        return Err(DbError::NoOrder);
    }

    Ok(mark(&views.model.types[query.row].name, &order))
}

/// The cursors between which the rows of a page are.
struct Bounds {
    after: Option<Keyset>,
    before: Option<Keyset>,
}

impl Bounds {
    /// Decodes the cursors of a page of the list with this mark.
    fn of(page: &CursorPage, mark: u32) -> Result<Self, DbError> {
        let bound = |cursor: &Option<String>, before| {
            let keys = cursor.as_ref().map(|cursor| decode(mark, cursor));
            Ok::<_, DbError>(keys.transpose()?.map(|keys| Keyset {
                keys,
                before,
                inverted: false,
            }))
        };

        Ok(Self {
            after: bound(&page.after, false)?,
            before: bound(&page.before, true)?,
        })
    }

    fn keysets(&self) -> Vec<Keyset> {
        self.after.iter().chain(&self.before).cloned().collect()
    }

    /// Returns the cursor from which the page is read.
    fn start(&self, backward: bool) -> Option<&Keyset> {
        let start = if backward { &self.before } else { &self.after };
        start.as_ref()
    }
}

/// Returns the query for the rows on the other side of `start`, opposite to the reading direction.
fn rows_beyond(all: &Query, order: &[Order], start: &Keyset) -> Query {
    Query {
        order: order.to_vec(),
        past: vec![Keyset {
            inverted: true,
            ..start.clone()
        }],
        ..all.clone()
    }
}

/// Returns the size of a page, and whether it is read from its end.
pub(in crate::graphql::find) fn size(
    page: &CursorPage,
    limits: &Limits,
) -> Result<(usize, bool), DbError> {
    let (limit, backward) = match (page.first, page.last) {
        (Some(_), Some(_)) => return Err(DbError::FirstAndLast),
        (Some(first), None) => (first, false),
        (None, Some(last)) => (last, true),
        (None, None) => (
            i32::try_from(limits.default_page).unwrap_or(i32::MAX),
            false,
        ),
    };

    check_size(
        if backward { "last" } else { "first" },
        limit.into(),
        limits,
    )?;

    Ok((usize::try_from(limit).unwrap_or(0), backward))
}
