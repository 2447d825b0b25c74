//! Nulls in columns of views. PostgreSQL reports every column of a view as nullable, so the proof
//! that one is never null comes from the stored query and the constraints of the underlying tables.
//!
//! A proof has to hold for every state of the tables. Columns that can certainly be null are
//! distinguished from undecided ones, since only the former are a mistake in a program that does
//! not expect nulls.

mod aggregates;
mod catalog;
mod expressions;
mod functions;
mod joins;
mod keys;
mod proofs;
mod ranges;
mod scope;
mod tree;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use tokio_postgres::Client;

use catalog::Catalog;
use scope::Scope;

/// Whether a value may be null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Nulls {
    Never,
    /// It may be null, for this reason.
    Possible(String),
    /// Undecided.
    Unknown,
}

impl Nulls {
    /// The nullability of a value that is null if one of several is.
    fn any(values: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::Never;
        for value in values {
            match value {
                Self::Never => {}
                Self::Possible(_) => return value,
                Self::Unknown => all = Self::Unknown,
            }
        }

        all
    }

    /// The part that still holds if the value may not be reached.
    fn perhaps(self) -> Self {
        if self == Self::Never {
            Self::Never
        } else {
            Self::Unknown
        }
    }
}

/// The columns of relations, and the keys of their documents.
#[derive(Debug)]
pub(super) struct Facts {
    catalog: Catalog,
    /// Results for columns of views, shared by the views that read them.
    known: RefCell<HashMap<(u32, usize), Nulls>>,
    /// Columns of recursive queries assumed to be never null during a proof, innermost last.
    assumed: RefCell<Vec<(usize, Vec<bool>)>>,
}

impl Facts {
    /// Reads the facts about a database.
    pub(super) async fn read(client: &Client) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            catalog: catalog::read(client).await?,
            known: RefCell::default(),
            assumed: RefCell::default(),
        })
    }

    /// A column by its number.
    pub(super) fn column(&self, relation: u32, column: usize) -> Nulls {
        let Some(of) = self.catalog.relations.get(&relation) else {
            return Nulls::Unknown;
        };

        match (&of.query, of.columns.get(&column)) {
            (None, Some(found)) if of.is_table() && found.is_filled => Nulls::Never,
            (None, Some(found)) if of.is_table() && found.is_guarded => Nulls::Unknown,
            (None, Some(found)) if of.is_table() => Nulls::Possible(format!(
                "the column `{}` of {} may be null",
                found.name, of.name
            )),
            // The rows of a materialized view may be older than a constraint.
            (Some(query), Some(_)) if of.kind == 'v' => {
                // The borrow ends before `output`, which adds the columns of the views behind this
                // one.
                if let Some(known) = self.known.borrow().get(&(relation, column)) {
                    return known.clone();
                }
                let nulls = Scope::new(self, query, None).output(column);
                self.known
                    .borrow_mut()
                    .insert((relation, column), nulls.clone());
                nulls
            }
            _ => Nulls::Unknown,
        }
    }

    /// The keys of the JSON object in a column, if its definition lists them.
    pub(super) fn keys(&self, relation: u32, column: usize) -> Option<BTreeMap<String, Nulls>> {
        let of = self.catalog.relations.get(&relation)?;
        let keys = Scope::new(self, of.query.as_ref()?, None).keys_of_output(column)?;

        // The rows of a materialized view may be older than a constraint.
        let known = |nulls: Nulls| {
            if of.kind == 'v' {
                nulls
            } else {
                Nulls::Unknown
            }
        };

        Some(
            keys.into_iter()
                .map(|(key, nulls)| (key, known(nulls)))
                .collect(),
        )
    }
}
