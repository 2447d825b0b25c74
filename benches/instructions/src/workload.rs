//! The workloads that are counted: requests of the side-by-side benchmark, always with the same
//! variables.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use testbed::Request;

/// A layout of svc-target with its settings, and the workloads that are counted on it.
#[derive(Debug)]
pub struct Layout {
    /// Its name in svc-target.
    pub name: &'static str,
    /// Its name in the record.
    pub title: &'static str,
    /// Variables of the server's environment.
    pub variables: &'static [(&'static str, &'static str)],
    /// Further headers of the requests.
    headers: &'static str,
    /// The workloads of its requests.
    pub workloads: &'static [Workload],
}

/// A workload of the side-by-side benchmark.
#[derive(Debug)]
pub struct Workload {
    /// Its name in the side-by-side benchmark.
    pub name: &'static str,
    queries: &'static str,
    /// Whether the document has the values as literals.
    has_literals: bool,
}

const RELATIONS: &str = include_str!("../../side_by_side/queries/svc-relations.json");
const STORED: &str = include_str!("../../side_by_side/queries/svc.json");

/// Everything that is counted.
pub const LAYOUTS: [Layout; 6] = [
    Layout {
        name: "columns",
        title: "columns",
        variables: &[],
        headers: "",
        workloads: &[
            Workload::new("Q1", RELATIONS),
            Workload::new("Q3", RELATIONS),
            Workload::new("Q4", RELATIONS),
            Workload::new("Q7", RELATIONS),
            Workload::with_literals("Q1", RELATIONS),
        ],
    },
    Layout {
        name: "tv",
        title: "tv",
        variables: &[],
        headers: "",
        workloads: &[Workload::new("Q3", STORED)],
    },
    Layout {
        name: "columns",
        title: "columns, with a token that repeats",
        variables: &AUTHENTICATION,
        headers: TOKEN,
        workloads: &[Workload::new("Q1", RELATIONS)],
    },
    Layout {
        name: "columns",
        title: "columns, without protection",
        variables: &[
            ("SVC_CSRF_PROTECTION", "false"),
            ("SVC_REQUEST_IDS", "false"),
            ("SVC_LOAD_SHEDDING", "false"),
        ],
        headers: "",
        workloads: &[Workload::new("Q1", RELATIONS)],
    },
    Layout {
        name: "columns",
        title: "columns, with origins that may read",
        variables: &[("SVC_CORS_ORIGINS", "https://app.example.com")],
        headers: "",
        workloads: &[Workload::new("Q1", RELATIONS)],
    },
    Layout {
        name: "columns",
        title: "columns, with metrics",
        variables: &[("SVC_METRICS_ENABLED", "true")],
        headers: "",
        workloads: &[
            Workload::new("Q1", RELATIONS),
            Workload::new("Q3", RELATIONS),
        ],
    },
];

/// The provider of the token.
const AUTHENTICATION: [(&str, &str); 4] = [
    ("SVC_AUTH_PROVIDER", "custom"),
    (
        "SVC_AUTH_SECRET_KEY",
        "the secret of the bench, which is no secret",
    ),
    ("SVC_AUTH_ISSUER", "https://id.example"),
    ("SVC_AUTH_AUDIENCE", "bench"),
];
/// A token by HS256 that holds until 2100.
const TOKEN: &str = "Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIyNGM5ZTE1ZS01MmFmLWM0N2MtMjI1Yi03NTdlN2JlZTFmOWQiLCJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJiZW5jaCIsImlhdCI6MTcwMDAwMDAwMCwiZXhwIjo0MTAyNDQ0ODAwLCJyb2xlcyI6WyJlZGl0b3IiXSwicGVybWlzc2lvbnMiOlsicG9zdHM6cmVhZCIsInBvc3RzOndyaXRlIl0sImVtYWlsIjoiYWRhQGV4YW1wbGUuY29tIiwibmFtZSI6IkFkYSJ9.WYxKdB6B6o-IxaVp4TTL7Qf4ckmCu8DpnI8llCcXHsk\r\n";

impl Workload {
    const fn new(name: &'static str, queries: &'static str) -> Self {
        Self {
            name,
            queries,
            has_literals: false,
        }
    }

    const fn with_literals(name: &'static str, queries: &'static str) -> Self {
        Self {
            has_literals: true,
            ..Self::new(name, queries)
        }
    }

    /// Returns its name and that of the layout, as in the record.
    pub fn title(&self, layout: &Layout) -> String {
        let literals = if self.has_literals {
            ", with literals"
        } else {
            ""
        };
        format!("{} {}{literals}", self.name, layout.title)
    }

    /// Returns the request, the same each time.
    ///
    /// # Errors
    /// The requests of the side-by-side benchmark do not have this workload.
    pub fn request(&self, layout: &Layout) -> Result<Request> {
        let queries: Value = serde_json::from_str(self.queries)?;
        let document = queries[self.name]["query"]
            .as_str()
            .with_context(|| format!("there is no {}", self.name))?;
        let variables = match self.name {
            "Q1" => json!({ "id": FIRST_USER }),
            "Q7" => {
                json!({ "postId": FIRST_POST, "authorId": FIRST_USER, "body": "A comment of some words." })
            }
            "Q3" => json!({ "limit": 100, "offset": 0 }),
            _ => json!({ "limit": 20, "offset": 0 }),
        };
        if self.has_literals {
            let document = written(document, &variables)?;
            return Ok(Request::with_headers(&document, &json!({}), layout.headers));
        }
        Ok(Request::with_headers(document, &variables, layout.headers))
    }
}

/// Returns the document with the values in place of its variables.
fn written(document: &str, variables: &Value) -> Result<String> {
    let (head, selections) = document
        .split_once(" {")
        .context("the document has no selections")?;
    let name = head.split('(').next().unwrap_or(head);
    let values = variables.as_object().into_iter().flatten();
    Ok(
        values.fold(format!("{name} {{{selections}"), |text, (name, value)| {
            text.replace(&format!("${name}"), &value.to_string())
        }),
    )
}

/// `md5('user1')` of the bench database, as a UUID.
const FIRST_USER: &str = "24c9e15e-52af-c47c-225b-757e7bee1f9d";
/// `md5('post1')` likewise.
const FIRST_POST: &str = "bea404ee-b42e-d203-9eda-3253b6b79819";
