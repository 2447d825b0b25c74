//! Statements that were written for a field and hold for later requests, which only bind their values.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::read::Read;
use super::ties::TieFree;
use crate::db::{Catalogue, Checks, DbError, Filter, Order, Statement, Varying};
use crate::engine::complete::RowShape;
use crate::engine::env::{Env, Growth};
use crate::engine::plan::{PlanField, PlanKind};

/// How many statements a field keeps: a client's `where` can have any form.
const MOST: usize = 8;
/// The longest statement that is kept, in bytes.
const LONGEST: usize = 16 << 10;
/// What a condition, a comparison or a key of an order weighs besides the text.
const PART: usize = 192;

/// The statements of one field, for as long as its plan is kept.
#[derive(Debug, Default)]
pub(crate) struct WrittenStatements(ArcSwapOption<Vec<Arc<Written>>>);

/// A statement, and for which requests it holds.
#[derive(Debug)]
struct Written {
    catalogue: Arc<Catalogue>,
    /// What was read when it was written.
    reads: Vec<Read>,
    checks: Checks,
    statement: Statement,
    shape: Arc<RowShape>,
    /// What reads the same page without the last unique key.
    tie_free: Option<Arc<TieFree>>,
    weight: usize,
}

/// The statement that reads the rows of a field, and where in them its values are.
pub(super) fn statement(
    env: &Env<'_>,
    catalogue: &Arc<Catalogue>,
    field: &PlanField,
    read: &Read,
) -> Result<(Statement, Arc<RowShape>), DbError> {
    found(env, catalogue, field, read, false).map(|(statement, shape, _)| (statement, shape))
}

/// The same, written for this request only.
pub(super) fn anew(
    env: &Env<'_>,
    catalogue: &Catalogue,
    field: &PlanField,
    read: &Read,
) -> Result<(Statement, Arc<RowShape>), DbError> {
    write(env, catalogue, field, read).map(|(statement, shape, _)| (statement, shape))
}

/// The statement that reads the rows of a list, if possible one that reads its page without the last unique key. Only
/// what is kept has such a one: whether rows tie is found out once for many requests.
pub(super) fn of_list(
    env: &Env<'_>,
    catalogue: &Arc<Catalogue>,
    field: &PlanField,
    read: &Read,
) -> Result<Found, DbError> {
    found(env, catalogue, field, read, true)
}

/// A statement with its values, where in its rows those of the field are, and what it is if it reads a page without the
/// last unique key.
type Found = (Statement, Arc<RowShape>, Option<Arc<TieFree>>);

fn found(
    env: &Env<'_>,
    catalogue: &Arc<Catalogue>,
    field: &PlanField,
    read: &Read,
    may_tie: bool,
) -> Result<Found, DbError> {
    let reads = Reads::of(env, field, read)?;
    let known = field.statements.0.load();
    let known = || known.iter().flat_map(|known| known.iter());
    for written in known().filter(|written| Arc::ptr_eq(&written.catalogue, catalogue)) {
        let tie_free = written.tie_free.as_ref().filter(|tie_free| may_tie && tie_free.is_promising());
        if let Some(statement) = written.bound(&reads, tie_free)? {
            #[cfg(debug_assertions)]
            assert_holds(env, catalogue, field, read, (&statement, tie_free))?;
            return Ok((statement, written.shape.clone(), tie_free.cloned()));
        }
    }
    let (statement, shape, checks) = write(env, catalogue, field, read)?;
    if let (Some(checks), Some(growth)) = (checks, env.growth) {
        let tie_free = TieFree::new(env, catalogue, field, read)?.map(Arc::new);
        keep(growth, field, &reads, Kept { catalogue, checks, statement: &statement, shape: &shape, tie_free });
    }
    Ok((statement, shape, None))
}

/// Compares a statement that is reused with one that is written anew.
#[cfg(debug_assertions)]
fn assert_holds(
    env: &Env<'_>,
    catalogue: &Catalogue,
    field: &PlanField,
    read: &Read,
    (statement, tie_free): (&Statement, Option<&Arc<TieFree>>),
) -> Result<(), DbError> {
    let anew = match tie_free {
        Some(_) => TieFree::new(env, catalogue, field, read)?.map(|tie_free| tie_free.statement),
        None => Some(write(env, catalogue, field, read)?.0),
    };
    assert_eq!(Some(statement), anew.as_ref(), "a statement was kept that does not hold");
    Ok(())
}

/// What a statement is kept with.
struct Kept<'a> {
    catalogue: &'a Arc<Catalogue>,
    checks: Checks,
    statement: &'a Statement,
    shape: &'a Arc<RowShape>,
    tie_free: Option<Arc<TieFree>>,
}

/// Keeps a statement if it is of use for other values, and there is room.
fn keep(growth: Growth<'_>, field: &PlanField, reads: &Reads<'_>, kept: Kept<'_>) {
    let Kept { catalogue, checks, statement, shape, tie_free } = kept;
    let reads = reads.without_values();
    let keys: usize = reads.iter().map(|read| read.order.len()).sum();
    let texts = statement.text.len() + tie_free.as_ref().map_or(0, |tie_free| tie_free.statement.text.len());
    let is_of_use = reads.iter().all(|read| varying(read).has_form_of(&varying(read)));
    if !is_of_use || texts + (checks.len() + keys) * PART > LONGEST {
        return;
    }
    let filters: usize = reads.iter().map(|read| conditions(&read.filter)).sum();
    let weight = size_of::<Written>() + texts + shape.weight() + (checks.len() + keys + filters) * PART;
    let statement = Statement { params: Vec::new(), ..statement.clone() };
    let (catalogue, shape) = (catalogue.clone(), shape.clone());
    let written = Arc::new(Written { catalogue, reads, checks, statement, shape, tie_free, weight });
    growth.statement(weight, || field.statements.put(&written));
}

impl WrittenStatements {
    /// Puts a statement first; the last and those for another catalogue go. Gives back what they weighed.
    fn put(&self, written: &Arc<Written>) -> usize {
        let known = self.0.load();
        let known = || known.iter().flat_map(|known| known.iter());
        let others = known().filter(|other| Arc::ptr_eq(&other.catalogue, &written.catalogue)).take(MOST - 1);
        let all: Vec<_> = [written.clone()].into_iter().chain(others.cloned()).collect();
        let stays: usize = all[1..].iter().map(|other| other.weight).sum();
        let went = known().map(|known| known.weight).sum::<usize>() - stays;
        self.0.store(Some(Arc::new(all)));
        went
    }
}

/// The parts of a filter.
fn conditions(filter: &Filter) -> usize {
    1 + match filter {
        Filter::All(all) | Filter::Any(all) => all.iter().map(conditions).sum(),
        Filter::Not(inner) | Filter::Some(_, inner) => conditions(inner),
        Filter::Compare(..) => 0,
    }
}

fn write(
    env: &Env<'_>,
    catalogue: &Catalogue,
    field: &PlanField,
    read: &Read,
) -> Result<(Statement, Arc<RowShape>, Option<Checks>), DbError> {
    let (query, shape) = read.clone().query(env, catalogue, field)?;
    let (statement, checks) = Statement::reusable_rows(env.model, catalogue, &query)?;
    Ok((statement, Arc::new(shape), checks))
}

/// What a statement reads: the rows of the relations below a field in the order in which it has them, and then the
/// field's own.
struct Reads<'a> {
    related: Vec<Read>,
    own: &'a Read,
}

impl<'a> Reads<'a> {
    fn of(env: &Env<'_>, field: &PlanField, own: &'a Read) -> Result<Self, DbError> {
        let mut related = Vec::new();
        if field.children.relations() {
            relations(env, field, &mut related)?;
        }
        Ok(Self { related, own })
    }

    fn iter(&self) -> impl Iterator<Item = &Read> {
        self.related.iter().chain([self.own])
    }

    /// The reads as far as they have to do with the form. The values are the clients', and can be large.
    fn without_values(&self) -> Vec<Read> {
        let read = |read: &Read| Read {
            filter: read.filter.without_values(),
            order: read.order.iter().map(Order::without_value).collect(),
            ..*read
        };
        self.iter().map(read).collect()
    }

    fn have_form_of(&self, others: &[Read]) -> bool {
        others.len() == self.related.len() + 1
            && self
                .iter()
                .zip(others)
                .all(|(one, other)| one.row == other.row && varying(one).has_form_of(&varying(other)))
    }
}

fn relations(env: &Env<'_>, field: &PlanField, found: &mut Vec<Read>) -> Result<(), DbError> {
    for field in field.children.iter().flat_map(|selection| &selection.fields) {
        if let PlanKind::Relation(relation) = field.kind {
            relations(env, field, found)?;
            found.push(Read::relation(env, field, relation)?);
        }
    }
    Ok(())
}

fn varying(read: &Read) -> Varying<'_> {
    Varying { filter: &read.filter, order: &read.order, page: read.page, neighbours: false }
}

impl Written {
    /// The statement, or the one without the last unique key, with the values of `reads`; `None` when it does not hold
    /// for them.
    fn bound(&self, reads: &Reads<'_>, tie_free: Option<&Arc<TieFree>>) -> Result<Option<Statement>, DbError> {
        if !reads.have_form_of(&self.reads) {
            return Ok(None);
        }
        let (mut checks, mut params) = (self.checks.iter(), Vec::with_capacity(self.checks.len() + 2));
        for read in &reads.related {
            if !varying(read).bind(&mut checks, &mut params)? {
                return Ok(None);
            }
        }
        let own = Varying { neighbours: tie_free.is_some(), ..varying(reads.own) };
        if !own.bind(&mut checks, &mut params)? {
            return Ok(None);
        }
        let statement = tie_free.map_or(&self.statement, |tie_free| &tie_free.statement);
        Ok(Some(Statement { text: statement.text.clone(), params, replan: statement.replan }))
    }
}
