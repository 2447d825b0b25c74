//! The SQL statements of a field, cached for later requests, which only bind their values.

mod reads;
mod tiebreaker;

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use reads::{Below, KeptReads, Reads, varying};
use tiebreaker::WithoutTiebreaker;

use super::read::Read;
use crate::graphql::complete::RowShape;
use crate::graphql::context::{ExecutionContext, Growth};
use crate::graphql::plan::PlanField;
use crate::sql::{Filter, Reuse, RowRules, StatementShape, select_reusable_rows};
use svc_postgres::{Catalog, DbError, Statement};

/// The maximum number of statements cached for a field: a client's `where` can have any shape.
const MAX_STATEMENTS: usize = 8;
/// The maximum length of a cached statement, in bytes.
const MAX_STATEMENT_LENGTH: usize = 16 << 10;
/// The weight of a condition, a comparison or an order key, without its text.
const PART: usize = 192;

/// The statements of one field, cached as long as its plan.
#[derive(Debug, Default)]
struct StatementCache(ArcSwapOption<Vec<Arc<CachedStatement>>>);

/// A statement, with the data to decide which requests can reuse it.
#[derive(Debug)]
struct CachedStatement {
    catalog: Arc<Catalog>,
    /// The reads that the statement was written for.
    reads: KeptReads,
    reuse: Reuse,
    statement: Statement,
    shape: Arc<RowShape>,
    /// The statement that reads the same page without the unique tiebreaker key.
    without_tiebreaker: Option<Arc<WithoutTiebreaker>>,
    weight: usize,
}

/// Returns the statement that reads the rows of a field, and the positions of its values in them.
pub(super) fn statement(
    cx: &ExecutionContext<'_>,
    catalog: &Arc<Catalog>,
    field: &PlanField,
    read: &Read,
) -> Result<(Statement, Arc<RowShape>), DbError> {
    found(cx, catalog, field, read, false).map(|(statement, shape, _)| (statement, shape))
}

/// Writes the statement for this request only, without the cache.
pub(super) fn anew(
    cx: &ExecutionContext<'_>,
    catalog: &Catalog,
    field: &PlanField,
    read: &Read,
) -> Result<(Statement, Arc<RowShape>), DbError> {
    write(cx, catalog, field, read).map(|(statement, shape, _)| (statement, shape))
}

/// Returns the statement that reads the rows of a list, if possible without the unique tiebreaker
/// key. Only cached statements have this variant: whether rows tie is determined once for many
/// requests.
pub(super) fn of_list(
    cx: &ExecutionContext<'_>,
    catalog: &Arc<Catalog>,
    field: &PlanField,
    read: &Read,
) -> Result<Found, DbError> {
    found(cx, catalog, field, read, true)
}

/// A statement with its parameters, the positions of the field's values in its rows, and, if it
/// reads a page without the unique tiebreaker key, that variant.
type Found = (Statement, Arc<RowShape>, Option<Arc<WithoutTiebreaker>>);

fn found(
    cx: &ExecutionContext<'_>,
    catalog: &Arc<Catalog>,
    field: &PlanField,
    read: &Read,
    may_tie: bool,
) -> Result<Found, DbError> {
    let Some(reads) = Reads::of(cx, field, read)? else {
        return write(cx, catalog, field, read)
            .map(|(statement, shape, _)| (statement, shape, None));
    };

    match cached(cx, catalog, field, &reads, may_tie)? {
        Some(cached) => Ok(cached),
        None => written_and_kept(cx, catalog, field, read, &reads),
    }
}

/// Writes the statement, and caches it if it can be reused. Cold, because most requests find it.
#[cold]
#[inline(never)]
fn written_and_kept(
    cx: &ExecutionContext<'_>,
    catalog: &Arc<Catalog>,
    field: &PlanField,
    read: &Read,
    reads: &Reads<'_>,
) -> Result<Found, DbError> {
    let (statement, shape, reuse) = write(cx, catalog, field, read)?;
    if let (Some(reuse), Some(growth)) = (reuse, cx.growth) {
        let without_tiebreaker = WithoutTiebreaker::new(cx, catalog, field, read)?.map(Arc::new);
        keep(
            growth,
            field,
            reads,
            Kept {
                catalog,
                reuse,
                statement: &statement,
                shape: &shape,
                without_tiebreaker,
            },
        );
    }

    Ok((statement, shape, None))
}

/// Returns a cached statement with the values of `reads`; `None` if no cached statement is valid
/// for them.
fn cached(
    cx: &ExecutionContext<'_>,
    catalog: &Arc<Catalog>,
    field: &PlanField,
    reads: &Reads<'_>,
    may_tie: bool,
) -> Result<Option<Found>, DbError> {
    let known = field
        .statements
        .get::<StatementCache>()
        .map(|statements| statements.0.load());
    let known = known
        .iter()
        .flat_map(|known| known.iter())
        .flat_map(|known| known.iter());

    // In a new catalog, columns may have other types, so statements are written again.
    for written in known.filter(|written| Arc::ptr_eq(&written.catalog, catalog)) {
        let without_tiebreaker = written
            .without_tiebreaker
            .as_ref()
            .filter(|without_tiebreaker| may_tie && without_tiebreaker.is_promising());
        let Some(statement) =
            written.bound(reads, cx.context.db().rules.as_deref(), without_tiebreaker)?
        else {
            continue;
        };

        #[cfg(debug_assertions)]
        assert_holds(
            cx,
            catalog,
            field,
            reads.own,
            (&statement, &written.shape, without_tiebreaker),
        )?;

        return Ok(Some((
            statement,
            written.shape.clone(),
            without_tiebreaker.cloned(),
        )));
    }

    Ok(None)
}

/// Checks that a reused statement and its shape equal a newly written statement and shape.
#[cfg(debug_assertions)]
fn assert_holds(
    cx: &ExecutionContext<'_>,
    catalog: &Catalog,
    field: &PlanField,
    read: &Read,
    (statement, shape, without_tiebreaker): (
        &Statement,
        &RowShape,
        Option<&Arc<WithoutTiebreaker>>,
    ),
) -> Result<(), DbError> {
    let (exact, shape_anew, _) = write(cx, catalog, field, read)?;
    let anew = match without_tiebreaker {
        Some(_) => WithoutTiebreaker::new(cx, catalog, field, read)?
            .map(|without_tiebreaker| without_tiebreaker.statement),
        None => Some(exact),
    };

    assert_eq!(
        Some(statement),
        anew.as_ref(),
        "a statement was kept that does not hold"
    );

    // Compared as debug text, as a shape has errors and functions without equality.
    assert_eq!(
        format!("{shape:?}"),
        format!("{shape_anew:?}"),
        "a statement was kept whose rows are not as it says"
    );

    Ok(())
}

/// A statement to cache, with the data to decide when it can be reused.
struct Kept<'a> {
    catalog: &'a Arc<Catalog>,
    reuse: Reuse,
    statement: &'a Statement,
    shape: &'a Arc<RowShape>,
    without_tiebreaker: Option<Arc<WithoutTiebreaker>>,
}

/// Caches a statement if it can be reused with other values and is small enough.
fn keep(growth: Growth<'_>, field: &PlanField, reads: &Reads<'_>, kept: Kept<'_>) {
    let Kept {
        catalog,
        reuse,
        statement,
        shape,
        without_tiebreaker,
    } = kept;

    let reads = reads.without_values();
    let keys: usize = reads.iter().map(|read| read.order.len()).sum::<usize>() + reads.arguments();
    let texts = statement.text.weight()
        + without_tiebreaker.as_ref().map_or(0, |without_tiebreaker| {
            without_tiebreaker.statement.text.weight()
        });

    // A read whose text depends on its values, such as a range, does not even have the shape of
    // itself.
    let is_of_use = reads
        .iter()
        .all(|read| varying(read).has_shape_of(&varying(read)));
    if !is_of_use || texts + (reuse.checks.len() + keys) * PART > MAX_STATEMENT_LENGTH {
        return;
    }

    let filters: usize = reads.iter().map(|read| conditions(&read.filter)).sum();
    let weight = size_of::<CachedStatement>()
        + texts
        + shape.weight()
        + (reuse.checks.len() + reuse.rules.conditions() + keys + filters) * PART;
    let statement = Statement {
        // The values of this request may be large or secret.
        params: Vec::new(),
        ..statement.clone()
    };

    let (catalog, shape) = (catalog.clone(), shape.clone());
    let written = Arc::new(CachedStatement {
        catalog,
        reads,
        reuse,
        statement,
        shape,
        without_tiebreaker,
        weight,
    });

    if let Some(statements) = field.statements.get::<StatementCache>() {
        growth.statement(weight, || statements.put(&written));
    }
}

impl StatementCache {
    /// Inserts a statement at the front. Removes the last one if the cache is full, and all
    /// statements for other catalogs. Returns the weight of the removed statements.
    fn put(&self, written: &Arc<CachedStatement>) -> usize {
        // Load and store need no loop: `DocumentCache::change` holds the lock of the document.
        let known = self.0.load();
        let known = || known.iter().flat_map(|known| known.iter());
        let others = known()
            .filter(|other| Arc::ptr_eq(&other.catalog, &written.catalog))
            .take(MAX_STATEMENTS - 1);
        let all: Vec<_> = [written.clone()]
            .into_iter()
            .chain(others.cloned())
            .collect();
        let stays: usize = all[1..].iter().map(|other| other.weight).sum();
        let went = known().map(|known| known.weight).sum::<usize>() - stays;
        self.0.store(Some(Arc::new(all)));

        went
    }
}

/// The number of parts of a filter.
fn conditions(filter: &Filter) -> usize {
    1 + match filter {
        Filter::All(all) | Filter::Any(all) => all.iter().map(conditions).sum(),
        Filter::Not(inner) | Filter::Some(_, inner) | Filter::Strict(inner) => conditions(inner),
        Filter::Aggregate(_, of) => of.having.len() + conditions(&of.filter),
        Filter::Compare(..) => 0,
    }
}

// Not inlined, because most requests find their statement.
#[inline(never)]
fn write(
    cx: &ExecutionContext<'_>,
    catalog: &Catalog,
    field: &PlanField,
    read: &Read,
) -> Result<(Statement, Arc<RowShape>, Option<Reuse>), DbError> {
    let (query, shape) = read.clone().query(cx, catalog, field)?;
    let (statement, reuse) = select_reusable_rows(cx.context.db().views(catalog), &query)?;
    Ok((statement, Arc::new(shape), reuse))
}

impl CachedStatement {
    /// Returns the statement, or the variant without the unique tiebreaker key, with the values of
    /// `reads`; `None` if it is not valid for them.
    fn bound(
        &self,
        reads: &Reads<'_>,
        rules: Option<&dyn RowRules>,
        without_tiebreaker: Option<&Arc<WithoutTiebreaker>>,
    ) -> Result<Option<Statement>, DbError> {
        if !reads.have_form_of(&self.reads) {
            return Ok(None);
        }

        let given = reads.own.from.as_ref().map_or(&[][..], |from| &from.params);

        // The values are in the order in which the builder numbers placeholders: the arguments of
        // the source, the reads below, the read of the field, and the rules.
        let (mut checks, mut params) = (
            self.reuse.checks.iter(),
            Vec::with_capacity(given.len() + self.reuse.checks.len() + 2),
        );
        params.extend_from_slice(given);
        let catalog = &*self.catalog;
        for below in &reads.below {
            match below {
                Below::Called(call) => call.bind(catalog, &mut params)?,
                Below::Related(read)
                    if varying(read).bind(catalog, &mut checks, &mut params)? => {}
                Below::Related(_) => return Ok(None),
            }
        }

        let own = StatementShape {
            neighbours: without_tiebreaker.is_some(),
            ..varying(reads.own)
        };
        if !own.bind(catalog, &mut checks, &mut params)? {
            return Ok(None);
        }

        if !self.reuse.rules.bind(rules, catalog, &mut params)? {
            return Ok(None);
        }

        let statement = without_tiebreaker.map_or(&self.statement, |without_tiebreaker| {
            &without_tiebreaker.statement
        });

        Ok(Some(Statement {
            replan: statement.replan,
            ..Statement::new(statement.text.clone(), params)
        }))
    }
}
