//! Nulls in columns of views: PostgreSQL says of each that it may be null, so the proof that one never is comes from the
//! stored query and the constraints of the tables behind it.
//!
//! Only what follows for every state of the tables counts. A column that is certainly open to nulls is told from one of
//! which nothing is known, since only the first is a mistake in a program that does not expect them.

mod aggregates;
mod catalogue;
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

use catalogue::Catalogue;
use scope::Scope;

/// Whether a value may be null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Nulls {
    Never,
    /// It may be, for this reason.
    Possible(String),
    /// Nothing is known.
    Unknown,
}

impl Nulls {
    /// That of a value that is null as soon as one of several is.
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

    /// The part of it that stays known where it is not certain that the value is reached.
    fn perhaps(self) -> Self {
        if self == Self::Never { Self::Never } else { Self::Unknown }
    }
}

/// The columns of relations, and the keys of their documents.
#[derive(Debug)]
pub(super) struct Facts {
    catalogue: Catalogue,
    /// Columns of views, which other views share.
    known: RefCell<HashMap<(u32, usize), Nulls>>,
    /// Columns of recursive queries of which it is tried whether they are never null, innermost last.
    assumed: RefCell<Vec<(usize, Vec<bool>)>>,
}

impl Facts {
    /// Reads what is to be known of a database.
    pub(super) async fn read(client: &Client) -> Result<Self, tokio_postgres::Error> {
        Ok(Self { catalogue: catalogue::read(client).await?, known: RefCell::default(), assumed: RefCell::default() })
    }

    /// A column by its number.
    pub(super) fn column(&self, relation: u32, column: usize) -> Nulls {
        let Some(of) = self.catalogue.relations.get(&relation) else { return Nulls::Unknown };
        match (&of.query, of.columns.get(&column)) {
            (None, Some(found)) if of.is_table() && found.is_filled => Nulls::Never,
            (None, Some(found)) if of.is_table() && found.is_guarded => Nulls::Unknown,
            (None, Some(found)) if of.is_table() => {
                Nulls::Possible(format!("the column `{}` of {} may be null", found.name, of.name))
            }
            // The rows of a materialized view may be older than a constraint.
            (Some(query), Some(_)) if of.kind == 'v' => {
                if let Some(known) = self.known.borrow().get(&(relation, column)) {
                    return known.clone();
                }
                let nulls = Scope::new(self, query, None).output(column);
                self.known.borrow_mut().insert((relation, column), nulls.clone());
                nulls
            }
            _ => Nulls::Unknown,
        }
    }

    /// The keys of the JSON object in a column, where its definition tells them.
    pub(super) fn keys(&self, relation: u32, column: usize) -> Option<BTreeMap<String, Nulls>> {
        let of = self.catalogue.relations.get(&relation)?;
        let keys = Scope::new(self, of.query.as_ref()?, None).keys_of_output(column)?;
        // The rows of a materialized view may be older than a constraint.
        let known = |nulls: Nulls| if of.kind == 'v' { nulls } else { Nulls::Unknown };
        Some(keys.into_iter().map(|(key, nulls)| (key, known(nulls))).collect())
    }
}
