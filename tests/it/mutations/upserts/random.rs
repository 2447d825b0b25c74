//! Random upserts on two databases that differ in the rows of others only: none of these rows is
//! changed or revealed, and the user's own rows are written in both.
//!
//! `UPSERT_SEED=7` tries others than every run, and `UPSERT_CASES=10000` as many as it says.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value, json};
use svc_tests::{cases, seed};

use super::kinds::{KINDS, Kind};
use super::twins::{POLICIES, Twin, database};

const SEED: u64 = 2_026;
/// Cases of every run.
const CASES: u64 = 60;
/// Cases of the long suite.
const LONG: u64 = 10_000;
/// The fewest cases of a kind and a policy that are tried.
const MIN_EACH: u64 = 4;

/// An upsert, and what it finds.
struct Case {
    field: &'static str,
    input: Value,
    /// The rows of both databases, and those of one.
    own: Vec<&'static str>,
    foreign: Vec<&'static str>,
    /// Whether it names a row that others have.
    meets_foreign: bool,
    /// Whether it would give a row to another.
    gives_away: bool,
    /// Whether it keeps the user's own rows, and has no others to write.
    writes_nothing: bool,
    /// Whether the trigger leaves a row out.
    is_dropped: bool,
}

impl Case {
    fn random(kind: &Kind, rng: &mut StdRng) -> Self {
        let mut groups: Vec<&'static [&'static str]> = kind.groups.to_vec();
        groups.shuffle(rng);
        let stays = |group: &&[&str]| !group[0].starts_with("drop");
        let taken = rng.random_range(1..groups.len().min(4));
        let taken: Vec<_> = groups.iter().take(taken).copied().filter(stays).collect();
        let own = rng.random_range(0..=taken.len());
        let (own, foreign) = taken.split_at(own);
        let one = rng.random_bool(0.4) && !kind.has_two();
        let several = if one { 1 } else { rng.random_range(1..=2) };
        groups.shuffle(rng);
        let gives_away = rng.random_bool(0.15);
        // An input has a field for the second column, or leaves it to the default.
        let has_lang = kind.has_two() && rng.random_bool(0.5);
        let fits = |given: &str| {
            given
                .split_once('|')
                .is_some_and(|(_, lang)| !lang.is_empty())
                == has_lang
        };
        let fitting = |group: &&'static [&'static str]| {
            let fitting: Vec<&'static str> =
                group.iter().copied().filter(|given| fits(given)).collect();
            (!fitting.is_empty()).then_some((*group, fitting))
        };
        let given: Vec<_> = groups.iter().filter_map(fitting).take(several).collect();
        let items = given
            .iter()
            .map(|(_, values)| item(values.choose(rng).unwrap(), gives_away));
        let mut items: Vec<_> = items.collect();
        let given: Vec<_> = given.into_iter().map(|(group, _)| group).collect();
        let keeps = rng.random_bool(0.4) && !one;
        Self {
            field: match (one, kind.has_two(), has_lang, keeps) {
                (true, ..) => "put_one",
                (false, true, true, true) => "keep_two",
                (false, true, true, false) => "put_two",
                (false, true, false, true) => "keep_default",
                (false, true, false, false) => "put_default",
                (false, false, _, true) => "keep",
                (false, false, _, false) => "put",
            },
            own: own
                .iter()
                .map(|group| *group.choose(rng).unwrap())
                .collect(),
            foreign: foreign
                .iter()
                .map(|group| *group.choose(rng).unwrap())
                .collect(),
            meets_foreign: given.iter().any(|group| {
                foreign
                    .iter()
                    .any(|foreign| std::ptr::eq::<[&str]>(*group, *foreign))
            }),
            is_dropped: given.iter().any(|group| group[0].starts_with("drop")),
            writes_nothing: keeps
                && given
                    .iter()
                    .all(|group| own.iter().any(|own| std::ptr::eq::<[&str]>(*group, *own))),
            gives_away,
            input: if one {
                items.remove(0)
            } else {
                Value::Array(items)
            },
        }
    }

    async fn run(&self, with: &Twin, without: &Twin) -> Result<(), String> {
        let own: Vec<_> = self.own.iter().map(|key| (*key, "bob")).collect();
        let foreign = self.foreign.iter().map(|key| (*key, "alice"));
        with.hold(&own.iter().copied().chain(foreign).collect::<Vec<_>>())
            .await;
        without.hold(&own).await;
        let before = (
            with.stored("alice").await,
            with.stored("bob").await,
            without.stored("bob").await,
        );
        let (seen, plain) = (
            with.ask(self.field, &self.input).await,
            without.ask(self.field, &self.input).await,
        );
        let after = (
            with.stored("alice").await,
            with.stored("bob").await,
            without.stored("bob").await,
        );

        let fails = |answer: &Value| answer.get("errors").is_some();
        let taken_over = before.0 != after.0 || !without.stored("alice").await.is_empty();
        let kept = (fails(&seen) && before.1 != after.1) || (fails(&plain) && before.2 != after.2);
        let told = seen.to_string().contains("secret");
        let expected = match (self.gives_away, self.is_dropped, self.meets_foreign) {
            // Row-level security rejects the row that is not inserted, and row policies do not.
            (true, ..) if self.writes_nothing => seen == plain,
            // Nothing tells whether others have the row.
            (true, ..) => fails(&seen) && seen == plain,
            (_, true, false) => seen == plain && plain.to_string().contains("did not take"),
            (_, true, true) => fails(&seen) && fails(&plain),
            (_, _, true) => fails(&seen) && !fails(&plain),
            (_, _, false) => !fails(&seen) && seen == plain,
        };
        match taken_over || kept || told || !expected {
            false => Ok(()),
            true => Err(format!(
                "{} {} over {:?} of Bob and {:?} of Alice\n before: {before:?}\n after: {after:?}\n with: {seen}\n without: {plain}",
                self.field, self.input, self.own, self.foreign
            )),
        }
    }
}

fn item(given: &str, gives_away: bool) -> Value {
    let mut item = Map::new();
    let (key, lang) = given
        .split_once('|')
        .map_or((given, None), |(key, lang)| (key, Some(lang)));
    item.insert("key".to_owned(), json!(key));
    if let Some(lang) = lang.filter(|lang| !lang.is_empty()) {
        item.insert("lang".to_owned(), json!(lang));
    }
    item.insert(
        "owner".to_owned(),
        json!(if gives_away { "alice" } else { "bob" }),
    );
    item.insert("body".to_owned(), json!("new"));
    Value::Object(item)
}

#[tokio::test]
async fn rows_of_other_users_are_neither_changed_nor_revealed() {
    let mut rng = StdRng::seed_from_u64(seed("UPSERT_SEED", SEED));
    let cases = cases("UPSERT_CASES", CASES, LONG);
    let (with, without) = tokio::join!(database(), database());
    let mut faults = Vec::new();
    let mut runs: Vec<_> = KINDS
        .iter()
        .flat_map(|kind| POLICIES.map(|policy| (kind, policy)))
        .collect();
    runs.shuffle(&mut rng);
    // Few cases try a part of the kinds: services cost more than cases.
    runs.truncate(usize::try_from(cases.div_ceil(MIN_EACH)).unwrap());
    let each = cases.div_ceil(runs.len() as u64);
    for (kind, policy) in runs {
        let (with, without) = (
            Twin::new(&with, kind, policy).await,
            Twin::new(&without, kind, policy).await,
        );
        for _ in 0..each {
            let case = Case::random(kind, &mut rng);
            if let Err(fault) = case.run(&with, &without).await {
                faults.push(format!("{} {policy:?}: {fault}", kind.name));
            }
        }
        tokio::join!(with.close(), without.close());
    }
    assert!(
        faults.is_empty(),
        "{} faults, such as\n{}",
        faults.len(),
        faults[..faults.len().min(12)].join("\n\n")
    );
}
