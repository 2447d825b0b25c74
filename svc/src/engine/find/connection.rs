//! Connections: a page of rows with cursors, the count of all rows, and what lies around the page, with one statement.

use super::columns::Columns;
use super::cursor::{decode, encode, mark};
use super::full_rows::full_rows;
use super::read::{PageRead, Read};
use crate::Error;
use crate::application::Limits;
use crate::engine::complete::{
    Cells, CompletedValue, Decoded, Outdated, PageNode, Records, RowShape, address, complete_page, complete_page_items,
};
use crate::engine::execution_context::ExecutionContext;
use crate::engine::path::Path;
use crate::engine::plan::{Calls, PlanField, PlanKind};
use crate::json::ExactJson;
use crate::postgres::{Catalogue, Database, DbError, Oid, Rows, Session, Statement};
use crate::repository::{ConnectionSpec, CursorPage, Db, Edge, Slice};
use crate::schema::Part;
use crate::sql::{Keyset, Query, Selected, Subquery, Views, Window, order_keys, record_types};

/// The parts of a page that a client selects.
#[derive(Default)]
struct Wanted {
    rows: bool,
    total: bool,
    next: bool,
    previous: bool,
    cursors: bool,
}

impl Wanted {
    fn of(field: &PlanField) -> Self {
        let mut wanted = Self::default();
        for field in field.children.iter().flat_map(|selection| &selection.fields) {
            let below = || field.children.iter().flat_map(|selection| &selection.fields);
            match field.kind {
                PlanKind::Part(Part::TotalCount) => wanted.total = true,
                PlanKind::Part(Part::Nodes) => wanted.rows = true,
                PlanKind::Part(Part::Edges) => {
                    wanted.rows = true;
                    wanted.cursors |= below().any(|field| matches!(field.kind, PlanKind::Part(Part::Cursor)));
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
        wanted.rows |= wanted.next || wanted.previous || wanted.cursors;
        wanted
    }

    fn all() -> Self {
        Self { rows: true, total: false, next: true, previous: true, cursors: true }
    }
}

/// A page as a statement reads it.
struct Asking {
    parts: Vec<Subquery>,
    mark: u32,
    limit: usize,
    backward: bool,
    /// The column with the list of order keys in each record.
    keys: Option<usize>,
    /// The keys of the cursors that were sent, and the query whose order they are of.
    sent: Option<(Query, Vec<Keyset>)>,
    /// The positions of the rows, the count and the look beyond among the parts.
    rows: Option<usize>,
    total: Option<usize>,
    beyond: Option<usize>,
    /// The types of the values in each record.
    types: Box<[Oid]>,
}

impl PageRead {
    /// The parts of the statement that reads `list` of each row.
    fn ask(
        self,
        views: Views<'_>,
        limits: &Limits,
        mut list: Vec<Selected>,
        wanted: &Wanted,
        careful: bool,
    ) -> Result<Asking, DbError> {
        let Self { read, page } = self;
        let (limit, backward) = size(&page, limits)?;
        let all = Query { careful, ..read.clone().matching() };
        let mut query = Query {
            order: read.order.clone(),
            // One more than the page has tells whether rows follow.
            page: Some(Window { limit: limit as i64 + 1, offset: 0 }),
            backward,
            ..all.clone()
        };
        let with_cursors = Query { list: vec![Selected::OrderKeys], ..query.clone() };
        let order = order_keys(views, &with_cursors)?;
        if order.is_empty() && wanted.rows {
            return Err(DbError::NoOrder);
        }
        let mark = mark(&views.model.types[read.row].name, &order);
        let bound = |cursor: &Option<String>, before| {
            let keys = cursor.as_ref().map(|cursor| decode(mark, cursor));
            Ok::<_, DbError>(keys.transpose()?.map(|keys| Keyset { keys, before, inverted: false }))
        };
        let (after, before) = (bound(&page.after, false)?, bound(&page.before, true)?);
        query.past = after.iter().chain(&before).cloned().collect();

        let mut asking = Asking {
            parts: Vec::new(),
            mark,
            limit,
            backward,
            keys: None,
            sent: None,
            rows: None,
            total: None,
            beyond: None,
            types: Box::default(),
        };
        if !query.past.is_empty() {
            asking.sent = Some((with_cursors, query.past.clone()));
        }
        if wanted.cursors {
            asking.keys = Some(list.len());
            list.push(Selected::OrderKeys);
        }
        // What lies on the side that the page does not grow to.
        let beyond = if backward { (wanted.next, &before) } else { (wanted.previous, &after) };
        if let (true, Some(keyset)) = beyond {
            let past = vec![Keyset { inverted: true, ..keyset.clone() }];
            let order = query.order.clone();
            asking.beyond = Some(asking.add(Subquery::Exists(Query { past, order, ..all.clone() })));
        }
        if wanted.total {
            asking.total = Some(asking.add(Subquery::Count(Query { list: vec![Selected::Count], ..all })));
        }
        if wanted.rows {
            let query = Query { list, ..query };
            asking.types = record_types(views, &query)?;
            asking.rows = Some(asking.add(Subquery::Rows(query)));
        }
        Ok(asking)
    }
}

impl Asking {
    fn add(&mut self, part: Subquery) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }

    /// The answer of the statement.
    fn node<'a>(&self, rows: &'a Rows) -> Result<PageNode<'a>, Outdated> {
        let cell = |part: Option<usize>| part.and_then(|part| rows.cell(0, part));
        let records = cell(self.rows).map(Records::new).unwrap_or_default();
        let mut records = records.iter(&self.types).collect::<Result<Vec<Cells<'a>>, _>>()?;
        let more = records.len() > self.limit;
        records.truncate(self.limit);
        if self.backward {
            records.reverse();
        }
        let cursors = self.keys.map(|column| {
            let cursor = |cells: &Cells<'_>| {
                let keys = cells.get(column).map(Records::new).unwrap_or_default();
                let keys: Vec<_> = keys.values().map(|key| key.and_then(|key| std::str::from_utf8(key).ok())).collect();
                encode(self.mark, &keys)
            };
            records.iter().map(cursor).collect()
        });
        let beyond = cell(self.beyond) == Some(&[1]);
        let total = cell(self.total).and_then(|bytes| bytes.try_into().ok()).map(i64::from_be_bytes);
        Ok(PageNode {
            records,
            cursors: cursors.unwrap_or_default(),
            total: total.unwrap_or(0),
            has_next: if self.backward { beyond } else { more },
            has_previous: if self.backward { more } else { beyond },
        })
    }
}

/// Returns the size of a page, and whether it is read from its end.
pub(super) fn size(page: &CursorPage, limits: &Limits) -> Result<(usize, bool), DbError> {
    let (limit, backward) = match (page.first, page.last) {
        (Some(_), Some(_)) => return Err(DbError::FirstAndLast),
        (Some(first), None) => (first, false),
        (None, Some(last)) => (last, true),
        (None, None) => (i32::try_from(limits.default_page).unwrap_or(i32::MAX), false),
    };
    if limit < 0 {
        return Err(DbError::NegativeSlice);
    }
    let window = crate::repository::page(Some(limit.into()), 0, limits)?;
    Ok((usize::try_from(window.limit).unwrap_or(0), backward))
}

/// Answers a field with a page.
pub(super) async fn write_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: PageRead,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    match read_page(cx, field, page.clone(), path).await {
        Err(error) if error.is_of_data() => read_page(&cx.careful(&error), field, page, path).await,
        result => result,
    }
}

async fn read_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: PageRead,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let catalogue = cx.database.catalogue().await?;
    let wanted = Wanted::of(field);
    let row = page.read.row;
    let mut nodes: Vec<&PlanField> = Vec::new();
    for part in field.children.iter().flat_map(|selection| &selection.fields) {
        match part.kind {
            PlanKind::Part(Part::Nodes) => nodes.push(part),
            PlanKind::Part(Part::Edges) => nodes.extend(
                part.children
                    .iter()
                    .flat_map(|selection| &selection.fields)
                    .filter(|field| matches!(field.kind, PlanKind::Part(Part::Node))),
            ),
            _ => {}
        }
    }
    if nodes.iter().any(|node| node.children.calls() > Calls::None) {
        let (list, whole) = full_rows(cx.context.db().views(&catalogue), row)?;
        let asking = page.ask(cx.context.db().views(&catalogue), cx.limits, list, &wanted, cx.careful)?;
        let rows = fetch(cx, &catalogue, &asking).await?;
        let answer = asking.node(&rows)?;
        let decoded = Decoded::new(cx.model, &whole, answer.records.iter().cloned());
        let items = complete_page_items(cx, field, &decoded, path).await;
        return complete_page(cx, field, &answer, &[], items, path);
    }
    let mut columns = Columns::new(cx.context.db().views(&catalogue), row)?;
    let shapes = nodes.iter().map(|node| Ok((address(node), columns.shape(cx, node, row)?)));
    let shapes = shapes.collect::<Result<Vec<(usize, RowShape)>, DbError>>()?;
    let asking = page.ask(cx.context.db().views(&catalogue), cx.limits, columns.finish().0, &wanted, cx.careful)?;
    let rows = fetch(cx, &catalogue, &asking).await?;
    let answer = asking.node(&rows)?;
    complete_page(cx, field, &answer, &shapes, Vec::new(), path)
}

async fn fetch(cx: &ExecutionContext<'_>, catalogue: &Catalogue, asking: &Asking) -> Result<Rows, DbError> {
    if asking.parts.is_empty() {
        return Ok(Rows::default());
    }
    let statement = Statement::subqueries(cx.context.db().views(catalogue), &asking.parts)?;
    asking.fetch(cx.context.db().views(catalogue), (cx.database, cx.session()), &statement).await
}

impl Asking {
    /// Runs the statement. When it fails for a value, the cursors are read by themselves: one that was made by hand may
    /// hold keys that the columns cannot.
    async fn fetch(
        &self,
        views: Views<'_>,
        (database, session): (&Database, &Session),
        statement: &Statement,
    ) -> Result<Rows, DbError> {
        let error = match database.fetch(session, statement).await {
            Err(error) if error.is_of_data() => error,
            result => return result,
        };
        let Some((query, past)) = &self.sent else { return Err(error) };
        for past in past {
            let keys = Statement::keys(views, query, &past.keys)?;
            if database.fetch(session, &keys).await.is_err_and(|error| error.is_of_data()) {
                return Err(DbError::BadCursor);
            }
        }
        Err(error)
    }
}

/// A page of typed rows, for a resolver.
pub(crate) async fn typed_slice(db: &Db, spec: &ConnectionSpec) -> Result<Slice<ExactJson>, Error> {
    let slice = || async move {
        let catalogue = db.app.database.catalogue().await?;
        let read = Read::all(db, spec.find.clone())?;
        let (list, whole) = full_rows(db.views(&catalogue), read.row)?;
        let page = PageRead { read, page: spec.page.clone() };
        let asking = page.ask(db.views(&catalogue), &db.app.limits, list, &Wanted::all(), false)?;
        let statement = Statement::subqueries(db.views(&catalogue), &asking.parts)?;
        let rows = asking.fetch(db.views(&catalogue), (&db.app.database, db.session()), &statement).await?;
        let answer = asking.node(&rows)?;
        let edges = answer.records.iter().zip(&answer.cursors).map(|(cells, cursor)| {
            let node = whole.object(cells.clone()).map_err(DbError::refused)?;
            Ok(Edge { node, cursor: cursor.clone() })
        });
        Ok(Slice {
            edges: edges.collect::<Result<_, DbError>>()?,
            has_next_page: answer.has_next,
            has_previous_page: answer.has_previous,
        })
    };
    db.app.database.following(slice).await.map_err(DbError::into_error)
}
