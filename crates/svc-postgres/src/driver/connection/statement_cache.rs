//! The statements that a connection keeps prepared, bounded in bytes.

use std::collections::VecDeque;

use ahash::RandomState;
use lru::LruCache;
use tokio_postgres::Statement as Prepared;

use crate::{Param, Statement, StatementText};

/// The maximum number of statements, however short they are.
const MAX_STATEMENTS: usize = 1_000;
/// The number of statements found without comparing texts.
const RECENT: usize = 8;
/// The share of the room that one statement may take, as a divisor.
const SHARE: usize = 16;
/// The number of texts remembered because they were prepared.
const SEEN: usize = 256;

/// Whether a statement that was just prepared had been prepared before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Novelty {
    /// It was not prepared recently.
    New,
    Known,
    /// Its columns used to have other types: a view has changed.
    Changed,
}

/// Prepared statements by text, with the least recently used evicted first.
///
/// PostgreSQL keeps each one with its parse trees and its plan, which take hundreds of times as
/// much memory as the text. So a statement that is used once, or is long, is closed after it has
/// run.
pub(super) struct StatementCache {
    kept: LruCache<Box<str>, Prepared>,
    /// The last statements looked up, found by the address of their text: most texts are kept with
    /// a plan, and comparing texts costs more than encoding a statement.
    recent: VecDeque<(StatementText, Prepared)>,
    /// The bytes of the texts, and their maximum.
    bytes: usize,
    room: usize,
    /// Hashes of the prepared texts and of their column types, at the index given by the text's
    /// hash.
    seen: Box<[(u64, u64)]>,
    hasher: RandomState,
}

impl StatementCache {
    /// An empty cache for texts of at most `room` bytes in total.
    pub(super) fn new(room: usize) -> Self {
        Self {
            kept: LruCache::unbounded(),
            recent: VecDeque::with_capacity(RECENT),
            bytes: 0,
            room,
            seen: vec![(0, 0); SEEN].into(),
            hasher: RandomState::new(),
        }
    }

    /// The prepared statement, if it is cached and fits the values.
    pub(super) fn find(&mut self, statement: &Statement) -> Option<Prepared> {
        let is_same = |(text, known): &&(StatementText, Prepared)| {
            text.is(&statement.text) && takes(known, statement)
        };
        if let Some((_, known)) = self.recent.iter().find(is_same) {
            return Some(known.clone());
        }

        self.find_kept(statement)
    }

    /// The prepared statement, found by its text.
    #[inline(never)]
    fn find_kept(&mut self, statement: &Statement) -> Option<Prepared> {
        // The same text may have been prepared for an earlier version of the view.
        let known = self
            .kept
            .get(&*statement.text)
            .filter(|known| takes(known, statement) && fits(statement, known))?
            .clone();

        self.remember(statement, &known);

        Some(known)
    }

    /// Keeps a statement that is used repeatedly, if there is room for its length. A statement that
    /// is not kept, or is evicted, is closed when it is dropped.
    pub(super) fn keep(&mut self, statement: &Statement, prepared: &Prepared) -> Novelty {
        if statement.text.is_sent_once() {
            return Novelty::New;
        }

        let novelty = self.novelty(&statement.text, prepared);

        // The text of a program's own statement does not depend on clients.
        let is_own = statement
            .params
            .iter()
            .any(|param| matches!(param, Param::Variable(_)));
        if (novelty == Novelty::New && !is_own) || statement.text.len() > self.room / SHARE {
            return novelty;
        }

        self.bytes += statement.text.len();

        // The same text may be kept for values of other types; that one is replaced.
        if self
            .kept
            .put((&*statement.text).into(), prepared.clone())
            .is_some()
        {
            self.bytes -= statement.text.len();
        }

        while self.bytes > self.room || self.kept.len() > MAX_STATEMENTS {
            let Some((text, _)) = self.kept.pop_lru() else {
                break;
            };
            self.bytes -= text.len();

            // Its copy among the recent ones would keep the statement open.
            self.recent.retain(|(recent, _)| **recent != *text);
        }

        self.remember(statement, prepared);

        novelty
    }

    fn novelty(&mut self, text: &str, prepared: &Prepared) -> Novelty {
        let columns: Vec<_> = prepared
            .columns()
            .iter()
            .map(|column| column.type_().oid())
            .collect();

        // Zero marks a place that is not used yet.
        let seen = (
            self.hasher.hash_one(text).max(1),
            self.hasher.hash_one(columns),
        );

        // A remainder fits.
        let place = usize::try_from(seen.0 % SEEN as u64).unwrap_or(0);
        let before = std::mem::replace(&mut self.seen[place], seen);

        match (before.0 == seen.0, before.1 == seen.1) {
            (false, _) => Novelty::New,
            (true, true) => Novelty::Known,
            (true, false) => Novelty::Changed,
        }
    }

    /// Removes a statement that PostgreSQL no longer accepts.
    pub(super) fn forget(&mut self, text: &str) {
        // The recent ones are found by address and not by text, so all of them go.
        self.recent.clear();
        if self.kept.pop(text).is_some() {
            self.bytes -= text.len();
        }
    }

    fn remember(&mut self, statement: &Statement, prepared: &Prepared) {
        self.recent.truncate(RECENT - 1);
        self.recent
            .push_front((statement.text.clone(), prepared.clone()));
    }
}

/// Whether the parameters of a prepared statement have the types of the values.
fn takes(known: &Prepared, statement: &Statement) -> bool {
    known.params().len() == statement.params.len()
        && known
            .params()
            .iter()
            .zip(&statement.params)
            .all(|(known, param)| param.is_of(known))
}

/// Whether the columns have the types that the statement was written for.
pub(super) fn fits(statement: &Statement, prepared: &Prepared) -> bool {
    statement
        .text
        .fits(prepared.columns().iter().map(|column| column.type_().oid()))
}
