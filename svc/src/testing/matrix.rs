//! The matrix: it sends each case as each principal on every transport, and compares the responses.

use std::fmt;

use axum::Router;
use serde_json::Value;

use super::case::{Case, Principal};
use super::coverage::Coverage;
use super::report::{MatrixReport, Row};
use super::verdict::Verdict;
use super::way::Way;
use crate::{AppOptions, create_svc_app};
use svc_core::{Error, Result};

/// Creates a matrix of principals and cases for the application with these options.
pub fn authz_matrix(options: AppOptions) -> AuthzMatrix {
    AuthzMatrix {
        options,
        principals: Vec::new(),
        cases: Vec::new(),
        layer: Box::new(|router| router),
    }
}

/// A matrix of principals and cases, created by [`authz_matrix`].
#[must_use = "a matrix is nothing until it is run"]
pub struct AuthzMatrix {
    options: AppOptions,
    principals: Vec<Principal>,
    cases: Vec<Case>,
    layer: Box<dyn FnOnce(Router) -> Router + Send>,
}

impl AuthzMatrix {
    /// Adds a principal, identified by these headers.
    pub fn principal(mut self, name: impl Into<String>, headers: &[(&str, &str)]) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        self.principals.push(Principal {
            name: name.into(),
            headers,
        });

        self
    }

    /// Adds a case. A mutation is executed on each transport, if the principal may do so.
    pub fn case(mut self, case: Case) -> Self {
        self.cases.push(case);
        self
    }

    /// Adds layers around the application, as the program does, such as one that authenticates the
    /// client.
    pub fn layer(mut self, layer: impl FnOnce(Router) -> Router + Send + 'static) -> Self {
        self.layer = Box::new(layer);
        self
    }

    /// Sends each case as each principal on every transport, one after the other.
    ///
    /// # Errors
    /// Fails if the application cannot be created, or if the coordinate of a case is not in its
    /// schema.
    pub async fn run(self) -> Result<MatrixReport> {
        let Self {
            options,
            principals,
            cases,
            layer,
        } = self;

        let mut coverage = Coverage::of(&options)?;
        for case in &cases {
            if !coverage.test(&case.coordinate) {
                let why = "is not a field of the schema; write a coordinate, such as `Query.posts` or `User.email`";
                return Err(Error::internal(format!("`{}` {why}", case.coordinate)));
            }
        }

        let app = layer(create_svc_app(options).await?);
        let mut report = MatrixReport::new(
            principals.iter().map(|principal| principal.name.clone()),
            coverage,
        );
        for case in &cases {
            let mut verdicts = Vec::with_capacity(principals.len());
            for principal in &principals {
                verdicts.push(compare(&app, principal, case, &mut report).await?);
            }
            report.rows.push(Row {
                coordinate: case.coordinate.clone(),
                verdicts,
            });
        }

        Ok(report)
    }
}

/// Sends a case on every transport; the first one that runs it determines the verdict.
async fn compare(
    app: &Router,
    principal: &Principal,
    case: &Case,
    report: &mut MatrixReport,
) -> Result<Verdict> {
    let mut first: Option<(Way, Value)> = None;
    for way in Way::ALL.iter().copied() {
        let Some(answer) = way.ask(app, principal, case).await? else {
            continue;
        };

        match &first {
            None => first = Some((way, answer)),
            Some((known, expected)) => {
                if let Some(difference) = difference(expected, way, &answer, case) {
                    let (name, coordinate) = (&principal.name, &case.coordinate);
                    let ways = format!("{} and {}", known.as_str(), way.as_str());
                    report.problems.push(format!(
                        "{coordinate} as {name}: {ways} disagree: {difference}"
                    ));
                }
            }
        }
    }

    match first {
        Some((_, answer)) => Ok(Verdict::of(&answer)),
        None => {
            let problem = format!(
                "{} as {}: no way ran the document",
                case.coordinate, principal.name
            );
            report.problems.push(problem);
            Ok(Verdict::Denied(["not run".to_owned()].into()))
        }
    }
}

/// Returns the difference between a response and the expected one.
///
/// If the program's functions are bypassed, a denied field rejects the whole document with a
/// different code. Mutations are executed again on each transport, so their data may differ.
fn difference(expected: &Value, way: Way, answer: &Value, case: &Case) -> Option<String> {
    let is_field = |error: &Value| !error["extensions"]["field"].is_null();
    let of_field = expected["errors"]
        .as_array()
        .is_some_and(|errors| errors.iter().any(is_field));
    let (wanted, verdict) = (Verdict::of(expected), Verdict::of(answer));
    let wanted = match way.is_bypass(case) && of_field {
        true => Verdict::Denied(["FIELD_AUTHORIZATION_ERROR".to_owned()].into()),
        false => wanted,
    };
    if wanted != verdict {
        return Some(format!("{wanted}, but {verdict}"));
    }

    let is_mutation = case.coordinate.starts_with("Mutation.");
    let same =
        is_mutation || (way.is_bypass(case) && of_field) || expected["data"] == answer["data"];

    (!same).then(|| "other data".to_owned())
}

impl fmt::Debug for AuthzMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthzMatrix")
            .field("principals", &self.principals)
            .field("cases", &self.cases)
            .finish_non_exhaustive()
    }
}
