//! Requests, what came of them, and whether two outcomes are the same.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use svc_tests::App;

/// A request to both.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) kind: &'static str,
    pub(super) query: String,
    pub(super) variables: Map<String, Value>,
    pub(super) operation: Option<String>,
}

/// The stage at which a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Parse,
    Validation,
    Variables,
    Request,
    Executed,
    /// Anything else, such as a limit.
    Other,
}

/// An error of a field: where it is in the answer, and where in the document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    path: String,
    locations: String,
}

/// The result of a request.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// The text of `data`.
    pub(super) data: Option<String>,
    pub(super) problems: Vec<Problem>,
    /// The broken rules; only the reference tells.
    pub(super) rules: Vec<String>,
    /// The errors, for people.
    pub(super) why: String,
}

impl Request {
    /// A request without variables.
    pub(super) fn new(kind: &'static str, query: impl Into<String>) -> Self {
        Self {
            kind,
            query: query.into(),
            variables: Map::new(),
            operation: None,
        }
    }

    /// With these variables.
    pub(super) fn with(mut self, variables: &Value) -> Self {
        self.variables = variables.as_object().unwrap().clone();
        self
    }

    /// The body of the request.
    pub(super) fn body(&self) -> Value {
        json!({ "query": self.query, "variables": self.variables, "operationName": self.operation })
    }
}

impl Problem {
    /// The errors in an answer, sorted: their order means nothing.
    pub(super) fn all(errors: &Value) -> Vec<Self> {
        let show = |value: &Value| {
            if value.is_null() {
                "[]".to_owned()
            } else {
                value.to_string()
            }
        };
        let errors = errors.as_array().into_iter().flatten();
        let mut all: Vec<_> = errors
            .map(|error| Self {
                path: show(&error["path"]),
                locations: show(&error["locations"]),
            })
            .collect();
        all.sort();
        all
    }
}

impl Outcome {
    /// An outcome without data.
    pub(super) fn refused(verdict: Verdict) -> Self {
        Self {
            verdict,
            data: None,
            problems: Vec::new(),
            rules: Vec::new(),
            why: String::new(),
        }
    }

    /// Whether two answers are the same but for the places of errors in the document.
    pub(super) fn differs_in_places_only(&self, other: &Self) -> bool {
        let paths = |outcome: &Self| {
            outcome
                .problems
                .iter()
                .map(|one| one.path.clone())
                .collect::<Vec<_>>()
        };
        (self.verdict, &self.data) == (other.verdict, &other.data) && paths(self) == paths(other)
    }

    /// Whether two answers mean the same.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        (self.verdict, &self.data, &self.problems) == (other.verdict, &other.data, &other.problems)
    }
}

/// Asks svc.
pub(super) async fn ask(app: &App, request: &Request) -> Outcome {
    let reply = app.post(&request.body()).await;
    let Ok(parts) =
        serde_json::from_str::<std::collections::HashMap<String, Box<RawValue>>>(&reply.text)
    else {
        return Outcome {
            why: format!("{} {}", reply.status, reply.text),
            ..Outcome::refused(Verdict::Other)
        };
    };
    let errors = parts
        .get("errors")
        .map(|errors| errors.get())
        .unwrap_or("[]");
    let errors: Value = serde_json::from_str(errors).unwrap();
    if let Some(data) = parts.get("data") {
        let (data, problems, why) = (
            Some(data.get().to_owned()),
            Problem::all(&errors),
            errors.to_string(),
        );
        return Outcome {
            data,
            problems,
            why,
            ..Outcome::refused(Verdict::Executed)
        };
    }
    let verdict = match errors[0]["extensions"]["code"].as_str() {
        Some("GRAPHQL_PARSE_FAILED") => Verdict::Parse,
        Some("GRAPHQL_VALIDATION_FAILED") => Verdict::Validation,
        Some("BAD_USER_INPUT") => Verdict::Variables,
        Some("OPERATION_RESOLUTION_FAILURE") => Verdict::Request,
        _ => Verdict::Other,
    };
    Outcome {
        why: errors.to_string(),
        ..Outcome::refused(verdict)
    }
}

/// The request and both outcomes, for people.
pub(super) fn report(request: &Request, ours: &Outcome, theirs: &Outcome) -> String {
    let show = |outcome: &Outcome| {
        let data = outcome.data.as_deref().unwrap_or("-");
        format!(
            "{:?}\n    data:   {data}\n    errors: {}",
            outcome.verdict, outcome.why
        )
    };
    format!(
        "--- {} ---\n{}\n  variables: {}  operation: {:?}\n  svc:       {}\n  reference: {}\n",
        request.kind,
        request.query,
        Value::from(request.variables.clone()),
        request.operation,
        show(ours),
        show(theirs),
    )
}
