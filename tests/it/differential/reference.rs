//! graphql-js in a process of its own.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::{lines, node, node_stderr};

use super::compare::{Outcome, Problem, Request, Verdict};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// The reference implementation, over the same schema and data.
pub(super) struct Reference {
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl Reference {
    /// Starts it.
    pub(super) fn start(sdl: &str, data: &Value) -> Self {
        let mut command = node("reference.mjs");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(node_stderr());
        let mut process = command.spawn().expect("node, for graphql-js");
        let mut input = process.stdin.take().unwrap();
        let output = lines(process.stdout.take().unwrap());
        writeln!(input, "{}", json!({ "sdl": sdl, "data": data })).unwrap();
        Self {
            process,
            input: Some(input),
            output,
        }
    }

    /// Answers all requests, in order.
    pub(super) fn ask(&mut self, requests: &[Request]) -> Vec<Outcome> {
        let mut input = self.input.take().unwrap();
        let lines: String = requests
            .iter()
            .map(|request| format!("{}\n", request.body()))
            .collect();
        // Written beside the reading, so that neither pipe fills up.
        let writer = std::thread::spawn(move || {
            input.write_all(lines.as_bytes()).unwrap();
            input
        });
        let outcomes = requests.iter().map(|_| self.read()).collect();
        self.input = Some(writer.join().unwrap());
        outcomes
    }

    fn read(&mut self) -> Outcome {
        let line = self.output.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("the reference does not answer: {error}"));
        let answer: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("the reference said {line:?}"));
        assert!(
            answer.get("fatal").is_none(),
            "the reference failed: {answer:#}"
        );
        outcome(&answer)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // If a test has failed, a thread may still write the input, at whose end it would end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn outcome(answer: &Value) -> Outcome {
    let refused = |verdict, why: &Value| Outcome {
        why: why.to_string(),
        ..Outcome::refused(verdict)
    };
    if !answer["parse"].is_null() {
        return refused(Verdict::Parse, &answer["parse"]);
    }
    let validation = answer["validation"].as_array().unwrap();
    if !validation.is_empty() {
        let rules = validation
            .iter()
            .filter_map(|error| error["rule"].as_str())
            .map(str::to_owned)
            .collect();
        return Outcome {
            rules,
            ..refused(Verdict::Validation, &answer["validation"])
        };
    }
    let result = &answer["result"];
    match (result["data"].as_str(), result["kind"].as_str()) {
        (Some(data), _) => Outcome {
            data: Some(data.to_owned()),
            problems: Problem::all(&result["errors"]),
            why: result["errors"].to_string(),
            ..Outcome::refused(Verdict::Executed)
        },
        (None, Some("variables")) => refused(Verdict::Variables, &result["errors"]),
        (None, _) => refused(Verdict::Request, &result["errors"]),
    }
}

/// The number of times that each rule was broken.
pub(super) fn count_rules(outcomes: &[Outcome]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for rule in outcomes.iter().flat_map(|outcome| &outcome.rules) {
        *counts.entry(rule.as_str()).or_default() += 1;
    }
    counts
}
