//! Random rows: in their one form for the evaluator, and as a database may hold them.

use rand::Rng as _;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::fields::{Field, Kind, ROW};
use super::values::{Writer, spelled, value};

/// Rows whose `id` is their position, and the same as the database holds them.
pub(super) fn rows(count: usize, rng: &mut StdRng) -> (Vec<Value>, Vec<Value>) {
    let rows = (0..count).map(|id| {
        let (mut row, mut stored) = object(ROW, rng);
        row["id"] = json!(id);
        stored["id"] = json!(id);
        (row, stored)
    });
    rows.unzip()
}

fn object(fields: &'static [Field], rng: &mut StdRng) -> (Value, Value) {
    let (mut row, mut stored) = (Map::new(), Map::new());
    for Field(name, kind) in fields {
        match rng.random_range(0..8) {
            // No value is a missing key or JSON null.
            0 => {}
            1 => drop(stored.insert((*name).to_owned(), Value::Null)),
            _ => {
                let (one, other) = both(*kind, rng);
                row.insert((*name).to_owned(), one);
                stored.insert((*name).to_owned(), other);
            }
        }
    }
    (row.into(), stored.into())
}

fn both(kind: Kind, rng: &mut StdRng) -> (Value, Value) {
    match kind {
        Kind::Object(fields) => object(fields, rng),
        Kind::Objects(fields) => {
            let items: Vec<_> = (0..rng.random_range(0..4))
                .map(|_| object(fields, rng))
                .collect();
            let (rows, stored): (Vec<_>, Vec<_>) = items.into_iter().unzip();
            (rows.into(), stored.into())
        }
        kind => {
            let value = value(kind, rng);
            let stored = spelled(kind, &value, Writer::Database, rng);
            (value, stored)
        }
    }
}
