//! The same documents to svc and to graphql-js, the reference implementation: the same verdict, the
//! same bytes of `data`, the same paths and places of errors.
//!
//! `DIFFERENTIAL_SEED=7` tries other documents than those of every run, and
//! `DIFFERENTIAL_DOCUMENTS=1200` as many valid ones as it says, and more of most other kinds.

mod compare;
mod data;
mod echo;
mod generator;
mod known;
mod oddities;
mod paths;
mod reference;
mod schema;
mod shrink;
mod twins;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use compare::{Outcome, Request, Verdict, ask, report};
use generator::Model;
use known::KNOWN;
use reference::{Reference, count_rules};
use svc::{AppOptions, Limits};
use svc_tests::{App, TestDatabase, cases, seed};

/// A disagreement: the request, svc's outcome, the reference's.
type Found = (Request, Outcome, Outcome);

/// The seed of every run.
const SEED: u64 = 2_026;
/// Valid documents of every run.
const DOCUMENTS: u64 = 400;
/// Disagreements that are shrunk and shown.
const SHOWN: usize = 8;
/// Requests to svc at the same time.
const AT_ONCE: usize = 8;
/// Without a subscription type graphql-js does not look at what subscriptions select.
const NEVER_BROKEN: [&str; 1] = ["SingleFieldSubscriptionsRule"];

#[tokio::test(flavor = "multi_thread")]
async fn svc_and_the_reference_implementation_agree() {
    let database = TestDatabase::new(&data::sql()).await.uncounted().await;
    let options = options().database_url(database.url());
    let sdl = options.sdl().unwrap();
    let app = Arc::new(App::serve(options).await);
    let mut reference = Reference::start(&sdl, &data::tree());
    let model = Model::new(&app.query(generator::INTROSPECTION).await.data(), &sdl);

    let mut requests = oddities::requests();
    requests.extend(random_requests(&model));
    let requests = Arc::new(requests);
    let (asked, ours) = (requests.clone(), ask_all(&app, &requests));
    let theirs = tokio::task::spawn_blocking(move || (reference.ask(&asked), reference));
    let (ours, theirs) = tokio::join!(ours, theirs);
    let (theirs, mut reference) = theirs.unwrap();

    let summary = summary(&requests, &theirs);
    let (unknown, still) = disagreements(&requests, &ours, &theirs);
    let count = unknown.len();
    let shown = show(&app, &mut reference, unknown).await;
    assert!(
        count == 0,
        "{count} documents disagree; some of them, made smaller:\n\n{shown}\n{summary}"
    );
    // Fewer documents, and other seeds, need not meet all of them.
    let has_all = valid_documents() >= generator::VALID && random_seed() == SEED;
    for (index, known) in KNOWN.iter().enumerate() {
        assert!(
            still.contains(&index) || !has_all,
            "both agree now, so take it out: {}",
            known.reason
        );
    }
    check_coverage(&requests, &theirs);
    #[expect(
        clippy::print_stderr,
        reason = "shown with --nocapture, and when the test fails"
    )]
    {
        eprintln!("{summary}");
    }
}

/// The disagreements that are not known, and which of the known ones there still are.
fn disagreements(
    requests: &[Request],
    ours: &[Outcome],
    theirs: &[Outcome],
) -> (Vec<Found>, HashSet<usize>) {
    let mut unknown = Vec::new();
    let mut still = HashSet::new();
    for ((request, ours), theirs) in requests.iter().zip(ours).zip(theirs) {
        if !ours.agrees(theirs) {
            match known::find(request, ours, theirs) {
                Some(known) => drop(still.insert(known)),
                None => unknown.push((request.clone(), ours.clone(), theirs.clone())),
            }
        }
    }
    (unknown, still)
}

/// Asks svc for everything, a few at a time.
async fn ask_all(app: &Arc<App>, requests: &Arc<Vec<Request>>) -> Vec<Outcome> {
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|first| {
            let (app, requests) = (app.clone(), requests.clone());
            tokio::spawn(async move {
                let mut outcomes = Vec::new();
                for (index, request) in requests.iter().enumerate().skip(first).step_by(AT_ONCE) {
                    outcomes.push((index, ask(&app, request).await));
                }
                outcomes
            })
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.extend(task.await.unwrap());
    }
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn options() -> AppOptions {
    let limits = Limits {
        body: 10_000_000,
        tokens: 1_000_000,
        depth: 200,
        aliases: 100_000,
        root_fields: 100_000,
        directives: 100_000,
        complexity: u64::MAX,
        errors: 100_000,
        ..Limits::default()
    };
    AppOptions::new()
        .auto_camel_case(true)
        .limits(limits)
        .queries(schema::queries())
        .mutations(schema::mutations())
}

/// The random documents: a part of them in every run, and all in the long suite.
fn random_requests(model: &Model) -> Vec<Request> {
    generator::requests(model, random_seed(), valid_documents())
}

fn random_seed() -> u64 {
    seed("DIFFERENTIAL_SEED", SEED)
}

fn valid_documents() -> usize {
    let documents = cases("DIFFERENTIAL_DOCUMENTS", DOCUMENTS, generator::VALID as u64);
    usize::try_from(documents).unwrap()
}

/// The first few disagreements, one of each kind before the next of any, made smaller.
async fn show(app: &App, reference: &mut Reference, unknown: Vec<Found>) -> String {
    let mut shown = String::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<_> = unknown
        .into_iter()
        .map(|found| {
            let count = seen
                .entry(format!(
                    "{} {:?} {:?}",
                    found.0.kind, found.1.verdict, found.2.verdict
                ))
                .or_default();
            *count += 1;
            (*count, found)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let most = std::env::var("DIFFERENTIAL_SHOWN")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SHOWN);
    for (_, found) in ranked.into_iter().take(most) {
        let generated = !oddities::KINDS.contains(&found.0.kind);
        let (request, ours, theirs) = if generated {
            shrink::shrink(app, reference, found).await
        } else {
            found
        };
        shown += &report(&request, &ours, &theirs);
    }
    shown + &format!("{seen:#?}")
}

/// The number of documents of each kind that came so far.
fn summary(requests: &[Request], theirs: &[Outcome]) -> String {
    let mut kinds: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for (request, outcome) in requests.iter().zip(theirs) {
        let verdicts = kinds.entry(request.kind).or_default();
        *verdicts
            .entry(format!("{:?}", outcome.verdict))
            .or_default() += 1;
    }
    let lines = kinds
        .iter()
        .map(|(kind, verdicts)| format!("{kind}: {verdicts:?}"));
    format!(
        "{} documents\n{}",
        requests.len(),
        lines.collect::<Vec<_>>().join("\n")
    )
}

/// Every rule is broken by a document that was made to break it, and most documents of the valid
/// kind are valid.
fn check_coverage(requests: &[Request], theirs: &[Outcome]) {
    assert!(requests.len() >= 2_000, "only {} documents", requests.len());
    let counts = count_rules(theirs);
    for rule in generator::rules() {
        assert_eq!(
            counts.contains_key(rule),
            !NEVER_BROKEN.contains(&rule),
            "documents that break {rule}"
        );
    }
    let valid: Vec<_> = requests
        .iter()
        .zip(theirs)
        .filter(|(request, _)| request.kind == "valid")
        .collect();
    let executed = valid
        .iter()
        .filter(|(_, outcome)| outcome.verdict == Verdict::Executed)
        .count();
    assert!(
        executed * 10 >= valid.len() * 8,
        "only {executed} of {} documents are valid",
        valid.len()
    );
}
