//! Makes a document smaller while both sides still disagree in the same way.

use svc_tests::App;

use super::Found;
use super::compare::{Request, ask};
use super::generator::tokens;
use super::known;
use super::reference::Reference;

/// Attempts for one document.
const ATTEMPTS: usize = 800;

/// A smaller request with the same kind of disagreement, and its outcomes.
pub(super) async fn shrink(app: &App, reference: &mut Reference, mut found: Found) -> Found {
    let verdicts = (found.1.verdict, found.2.verdict);
    let (mut attempts, mut position) = (0, 0);
    while attempts < ATTEMPTS {
        let text = found.0.query.clone();
        let all = tokens::split(&text);
        if position >= all.len() {
            break;
        }
        let mut smaller = None;
        for end in ends(&all, position) {
            attempts += 1;
            let query = without_unused([&all[..position], &all[end..]].concat()).join(" ");
            let request = Request {
                query,
                ..found.0.clone()
            };
            let ours = ask(app, &request).await;
            let theirs = reference.ask(std::slice::from_ref(&request)).remove(0);
            let same = !ours.agrees(&theirs) && (ours.verdict, theirs.verdict) == verdicts;
            if same && known::find(&request, &ours, &theirs).is_none() {
                smaller = Some((request, ours, theirs));
                break;
            }
        }
        match smaller {
            Some(smaller) => found = smaller,
            None => position += 1,
        }
    }
    found
}

/// The ends of cuts from `start`, the largest first.
fn ends(all: &[&str], start: usize) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..=6)
        .map(|length| start + length)
        .filter(|end| *end <= all.len())
        .collect();
    let near = all.iter().enumerate().skip(start).take(8);
    ends.extend(
        near.filter(|(_, token)| matches!(**token, "{" | "(" | "["))
            .map(|(index, _)| closing(all, index)),
    );
    ends.sort_unstable();
    ends.dedup();
    ends.reverse();
    ends
}

/// Leaves out fragments and variables that nothing uses any more.
fn without_unused(mut all: Vec<&str>) -> Vec<&str> {
    let mut index = 0;
    while index < all.len() {
        let end = match all[index] {
            "fragment" if all.get(index + 2) == Some(&"on") => {
                let spread = all.windows(2).any(|pair| pair == ["...", all[index + 1]]);
                let open = all[index..].iter().position(|token| *token == "{");
                open.filter(|_| !spread)
                    .map(|open| closing(&all, index + open))
            }
            "$" if all.get(index + 2) == Some(&":") => {
                let name = all[index + 1];
                let used = all.windows(2).filter(|pair| *pair == ["$", name]).count() > 1;
                let rest = all[index + 1..]
                    .iter()
                    .position(|token| matches!(*token, "$" | ")"));
                rest.filter(|_| !used).map(|rest| index + 1 + rest)
            }
            "(" if all.get(index + 1) == Some(&")") => Some(index + 2),
            _ => None,
        };
        match end {
            Some(end) => {
                all.drain(index..end);
                index = 0;
            }
            None => index += 1,
        }
    }
    all
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
