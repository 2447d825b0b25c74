//! Makes a document smaller while both sides still disagree in the same way.

use svc_tests::App;

use super::compare::{Outcome, Request, ask};
use super::generator::tokens;
use super::reference::Reference;

/// Attempts for one document.
const ATTEMPTS: usize = 500;

/// A smaller request with the same kind of disagreement, and its outcomes.
pub(super) async fn shrink(
    app: &App,
    reference: &mut Reference,
    mut found: (Request, Outcome, Outcome),
) -> (Request, Outcome, Outcome) {
    let verdicts = (found.1.verdict, found.2.verdict);
    let mut attempts = 0;
    'smaller: loop {
        for candidate in candidates(&found.0.query) {
            attempts += 1;
            if attempts > ATTEMPTS {
                return found;
            }
            let request = Request { query: candidate, ..found.0.clone() };
            let ours = ask(app, &request).await;
            let theirs = reference.ask(std::slice::from_ref(&request)).remove(0);
            if !ours.agrees(&theirs) && (ours.verdict, theirs.verdict) == verdicts {
                found = (request, ours, theirs);
                continue 'smaller;
            }
        }
        return found;
    }
}

/// Documents with some tokens left out, the largest cuts first.
fn candidates(query: &str) -> Vec<String> {
    let all = tokens::split(query);
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for (start, token) in all.iter().enumerate() {
        if matches!(*token, "{" | "(" | "[") {
            let end = closing(&all, start);
            cuts.extend((0..=6.min(start)).map(|before| (start - before, end)));
        }
        cuts.extend([1, 2, 3, 4, 5, 8].map(|length| (start, start + length)).into_iter().filter(|cut| cut.1 <= all.len()));
    }
    cuts.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
    cuts.iter().map(|(start, end)| [&all[..*start], &all[*end..]].concat().join(" ")).collect()
}

fn closing(all: &[&str], start: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in all.iter().enumerate().skip(start) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    all.len()
}
