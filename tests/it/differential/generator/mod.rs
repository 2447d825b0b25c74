//! Documents from a seed.

mod document;
mod model;
mod mutate;
pub(super) mod tokens;
mod valid;
mod values;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::compare::Request;
pub(super) use model::{INTROSPECTION, Model};

/// The number of valid documents of the long suite.
pub(super) const VALID: usize = 1_200;
/// The number of each other kind beside so many valid ones.
const BAD_VALUES: usize = 400;
const SCHEMA: usize = 150;
const BROKEN_EACH: usize = 40;
const DAMAGED: usize = 600;

/// The rules of graphql-js that documents are made to break.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    mutate::RULES.iter().map(|(name, _)| *name)
}

/// The requests of a seed, of which so many are valid, and as large a part of most other kinds. Each
/// has a seed of its own, so that a change of one kind leaves the others as they are.
///
/// The documents that break a rule are always all: their ways to do so are many, and most are
/// refused soon.
pub(super) fn requests(model: &Model, seed: u64, valid: usize) -> Vec<Request> {
    let part = |count: usize| (count * valid).div_ceil(VALID);
    let mut requests = Vec::new();
    let mut make = |kind: &'static str, count: usize, make: &dyn Fn(&mut StdRng) -> Request| {
        for index in 0..count {
            let salt = kind.bytes().fold(seed, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(byte.into())
            });
            let mut random = StdRng::seed_from_u64(salt.wrapping_add(index as u64));
            requests.push(Request {
                kind,
                ..make(&mut random)
            });
        }
    };
    make("valid", valid, &|random| {
        written(random, |random| valid::document(model, random, false))
    });
    make("bad values", part(BAD_VALUES), &|random| {
        written(random, |random| valid::document(model, random, true))
    });
    make("introspection", part(SCHEMA), &|random| {
        written(random, |random| valid::introspection(model, random))
    });
    for (rule, damage) in mutate::RULES {
        make(rule, BROKEN_EACH, &|random| {
            written(random, |random| {
                let mut made = valid::document(model, random, false);
                damage(&mut mutate::Breaker {
                    random,
                    document: &mut made.document,
                });
                made
            })
        });
    }
    make("damaged", part(DAMAGED), &|random| {
        let request = written(random, |random| valid::document(model, random, false));
        Request {
            query: tokens::damage(random, &request.query),
            ..request
        }
    });
    requests
}

fn written(random: &mut StdRng, make: impl Fn(&mut StdRng) -> valid::Generated) -> Request {
    let made = make(random);
    let text = made.document.text();
    let tokens: Vec<String> = tokens::split(&text)
        .into_iter()
        .map(str::to_owned)
        .collect();
    let query = if random.random_bool(0.5) {
        text
    } else {
        tokens::join(random, &tokens)
    };
    Request {
        kind: "",
        query,
        variables: made.variables,
        operation: made.operation,
    }
}
