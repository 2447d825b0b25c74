//! Nothing runs a root field without its admission: the compiler refuses each way.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use svc_tests::{cargo, run};

/// The errors of a file: the line, the code, and a word of the message.
type Errors = BTreeSet<(u64, String, String)>;

/// The errors that a file names, as `//~ E0308 word` at the end of lines.
fn expected(source: &str) -> Errors {
    let named = source.lines().zip(1..).filter_map(|(line, number)| {
        let (code, word) = line.split_once("//~ ")?.1.split_once(' ')?;
        Some((number, code.to_owned(), word.to_owned()))
    });
    named.collect()
}

/// The errors that the compiler finds in the engine with one of the files.
///
/// The whole workspace is selected, because cargo would select other features of third-party crates
/// for the engine alone, and check them all again. Crates above the engine are not checked, as it
/// fails.
fn found(root: &Path, which: &str, expected: &Errors) -> Errors {
    let compiler = root.join("tests/it/requests/unadmitted.sh");
    let mut command = cargo();
    command
        .args(["check", "--workspace", "--lib", "--message-format=json"])
        .env("RUSTC_WORKSPACE_WRAPPER", compiler)
        .env("UNADMITTED", which)
        .current_dir(root);
    let output = run(&mut command);
    assert!(!output.status.success(), "{which} compiles");
    let lines = String::from_utf8(output.stdout).unwrap();
    let messages = lines
        .lines()
        .filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["message"].clone()));
    let errors =
        messages.filter(|message| message["level"] == "error" && message["code"].is_object());
    errors
        .flat_map(|error| errors_of(&error, which, expected))
        .collect()
}

/// An error for each place that the compiler marks, with the expected word if its text has it.
fn errors_of(error: &Value, which: &str, expected: &Errors) -> Vec<(u64, String, String)> {
    let text = error["rendered"].as_str().unwrap_or_default();
    let code = error["code"]["code"].as_str().unwrap_or_default();
    let marked = error["spans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|span| span["is_primary"] == true);
    let places = marked.map(|span| {
        assert!(
            span["file_name"]
                .as_str()
                .unwrap()
                .ends_with(&format!("unadmitted/{which}.rs")),
            "{text}"
        );
        let line = span["line_start"].as_u64().unwrap();
        let word = expected
            .iter()
            .find(|(at, _, word)| *at == line && text.contains(word.as_str()));
        (
            line,
            code.to_owned(),
            word.map_or_else(|| text.to_owned(), |(_, _, word)| word.clone()),
        )
    });
    places.collect()
}

#[test]
fn each_bypass_is_refused_by_the_compiler() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for which in ["calls", "literals"] {
        let file = root.join(format!(
            "crates/svc-engine/src/graphql/execute/unadmitted/{which}.rs"
        ));
        let expected = expected(&std::fs::read_to_string(file).unwrap());
        assert!(expected.len() >= 3, "{which}: {expected:?}");
        assert_eq!(found(root, which, &expected), expected, "{which}");
    }
}
