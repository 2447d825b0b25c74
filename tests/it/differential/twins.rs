//! Random documents after others that differ only in literals. They are answered as if alone, and
//! alone they are answered as by the reference implementation.

use std::sync::Arc;

use serde_json::Value;
use svc_tests::{App, TestDatabase, without_error_ids};

use super::compare::{Outcome, Request, report};
use super::generator::{self, Model, tokens};
use super::{ask_all, data, options, random_requests};

/// The kinds of documents whose literals are bound.
const KINDS: [&str; 2] = ["valid", "bad values"];

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_share_a_plan_are_answered_as_if_alone() {
    let database = TestDatabase::new(&data::sql()).await.uncounted().await;
    let options = || options().database_url(database.url());
    let sdl = options().sdl().unwrap();
    let app = Arc::new(App::serve(options()).await);
    let model = Model::new(&app.query(generator::INTROSPECTION).await.data(), &sdl);

    let mut requests = random_requests(&model);
    requests.retain(|request| KINDS.contains(&request.kind));
    let with = |change: &dyn Fn(&str) -> String| -> Arc<Vec<Request>> {
        let changed = requests.iter().map(|request| Request {
            query: change(&request.query),
            ..request.clone()
        });
        Arc::new(changed.collect())
    };

    // Custom scalars refuse most other strings, and a document whose strings are not all bound has
    // no plan in common with one of other strings. The second twin has other numbers alone.
    for has_texts in [true, false] {
        ask_all(&app, &with(&|text| twin(text, has_texts))).await;
    }
    let shared = ask_all(&app, &with(&str::to_owned)).await;
    // A text with this character shares nothing.
    let alone = ask_all(&app, &with(&|text| format!("{text}\n#\u{1}"))).await;

    let differ =
        |one: &Outcome, other: &Outcome| !one.agrees(other) || errors(one) != errors(other);
    let found = requests.iter().zip(shared.iter().zip(&alone));
    let found: Vec<_> = found
        .filter(|(_, (shared, alone))| differ(shared, alone))
        .map(|(request, (shared, alone))| report(request, shared, alone))
        .collect();
    assert!(
        found.is_empty(),
        "{} documents differ, here from themselves alone:\n{}",
        found.len(),
        found[..found.len().min(8)].join("\n")
    );
}

/// The errors, sorted: their order means nothing.
fn errors(outcome: &Outcome) -> Vec<String> {
    let text = without_error_ids(&outcome.why);
    let Ok(errors) = serde_json::from_str::<Vec<Value>>(&text) else {
        return vec![text];
    };
    let mut errors: Vec<_> = errors.iter().map(Value::to_string).collect();
    errors.sort();
    errors
}

/// The same document with other literals of the same kinds in the arguments of its fields.
fn twin(text: &str, has_texts: bool) -> String {
    let (mut twin, mut end) = (String::new(), 0);
    let (mut braces, mut parentheses) = (0_usize, 0_usize);

    for token in tokens::split(text) {
        let start = token.as_ptr().addr() - text.as_ptr().addr();
        let other = match token.as_bytes()[0] {
            b'(' => {
                parentheses += 1;
                continue;
            }
            b')' => {
                parentheses = parentheses.saturating_sub(1);
                continue;
            }
            b'{' if parentheses == 0 => {
                braces += 1;
                continue;
            }
            b'}' if parentheses == 0 => {
                braces = braces.saturating_sub(1);
                continue;
            }
            // The defaults of variables are not bound.
            _ if braces == 0 => continue,
            b'0'..=b'9' | b'-' if token.contains(['.', 'e', 'E']) => "0.75",
            b'0'..=b'9' | b'-' => "11",
            b'"' if has_texts && !token.starts_with("\"\"\"") => "\"\\u0031x\"",
            _ => continue,
        };
        twin += &text[end..start];
        twin += other;
        end = start + token.len();
    }

    twin + &text[end..]
}
