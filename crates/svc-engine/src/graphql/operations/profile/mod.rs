//! The profile of a registered operation: its cost, and the parts of its document that its author
//! may want to change.

mod parts;

use std::sync::Arc;

use apollo_compiler::executable::Operation;
use async_graphql::Value;
use serde::Serialize;

use super::Registered;
use crate::graphql::coerce::{VariableDef, Variables};
use crate::graphql::document::Document;
use crate::graphql::error::RequestError;
use crate::graphql::plan::Plan;
use crate::limits::{LimitMode, Limits};
use parts::{Deprecated, PageSize, Parts};
use svc_core::ErrorCode;
use svc_core::schema::Model;

/// The comment in a document that silences findings: `# svc-ignore near-limit`.
const IGNORE: &str = "svc-ignore";

/// The maximum number of conditions for which all combinations of values are counted.
const MAX_CONDITIONS: usize = 5;

/// The cost of a registered operation, and the parts of its document that its author may want to
/// change, for the CLI.
#[derive(Debug, Serialize)]
pub struct OperationProfile {
    /// The name in the document.
    name: Option<String>,
    /// The file, the manifest with the id, or the beginning of the document.
    source: String,
    /// Whether `source` is the file with the document, so that lines are lines of this file.
    is_file: bool,
    /// The line of the operation.
    line: usize,
    /// The SHA-256 of the text, in hexadecimal digits.
    hash: String,
    depth: usize,
    /// The complexity with the defaults of the variables.
    cost: u64,
    /// The complexity if all pages whose size is a variable are as large as possible.
    highest_cost: u64,
    /// The error that clients get even with the defaults of the variables.
    refusal: Option<String>,
    pages: Vec<PageSize>,
    deprecated: Vec<Deprecated>,
    /// The codes of findings that the document silences.
    ignored: Vec<String>,
}

impl Registered {
    /// Counts the cost of the operation, and finds the parts that its author may want to change.
    /// Returns `None` for a document without an operation, which no registry has.
    pub fn profile(&self, model: &Model, limits: &Limits) -> Option<OperationProfile> {
        let operation = self.document.executable.operations.iter().next()?;
        let (_, info) = self.document.operation(None).ok()?;
        let Parts {
            line,
            pages,
            deprecated,
        } = Parts::of(model, &self.document, operation);

        let counter = Counter {
            model,
            document: &self.document,
            operation,
            variables: &info.variables,
            planning: Limits {
                mode: LimitMode::Warn,
                root_fields: usize::MAX,
                ..limits.clone()
            },
            limits: Limits {
                mode: LimitMode::Enforce,
                ..limits.clone()
            },
        };

        let largest: Vec<_> = pages
            .iter()
            .filter_map(|page| page.variable.as_deref())
            .map(|name| (Arc::<str>::from(name), Value::from(limits.max_page)))
            .collect();

        let usual = counter.count(&[]);
        let highest_cost = if largest.is_empty() {
            usual.cost
        } else {
            counter.count(&largest).cost
        };

        Some(OperationProfile {
            name: operation.name.as_ref().map(ToString::to_string),
            source: self.shown.clone(),
            is_file: self.is_file,
            line,
            hash: hex::encode(self.id),
            depth: usual.depth,
            cost: usual.cost,
            highest_cost,
            refusal: usual.refusal,
            pages,
            deprecated,
            ignored: ignored(&self.document.text),
        })
    }
}

/// The highest counts of an operation.
#[derive(Default)]
struct Counted {
    depth: usize,
    cost: u64,
    refusal: Option<String>,
}

/// Counts an operation.
struct Counter<'a> {
    model: &'a Model,
    document: &'a Document,
    operation: &'a Operation,
    variables: &'a [VariableDef],
    /// Limits that reject no plan, so that the cost above a limit is counted too.
    planning: Limits,
    /// The limits of the service. They are enforced, because `LimitMode::Warn` records a security
    /// event instead of returning the error.
    limits: Limits,
}

impl Counter<'_> {
    /// Returns the highest counts over the values of the conditions, with these values in place of
    /// the variables' defaults.
    fn count(&self, given: &[(Arc<str>, Value)]) -> Counted {
        let names = self.document.conditions();
        let mut highest = Counted::default();

        for values in combinations(names.len()) {
            let conditions = names
                .iter()
                .zip(values)
                .map(|(name, value)| (Arc::<str>::from(name.as_str()), Value::Boolean(value)));
            let defaults = self
                .variables
                .iter()
                .filter_map(|variable| Some((variable.name.clone(), variable.default.clone()?)));

            // The last value of a name counts.
            let variables: Variables = defaults
                .chain(given.iter().cloned())
                .chain(conditions)
                .collect();
            highest = highest.and(self.count_with(&variables));
        }

        highest
    }

    fn count_with(&self, variables: &Variables) -> Counted {
        let plan = match self.plan(variables) {
            Ok(plan) => plan,
            Err(error) => {
                return Counted {
                    refusal: Some(error.message),
                    ..Counted::default()
                };
            }
        };

        let cost = plan.cost(self.model, &self.limits, variables);
        let refused = self.check(&plan, variables).err();

        Counted {
            depth: cost.depth,
            cost: cost.complexity,
            refusal: refused.map(|error| error.message),
        }
    }

    fn plan(&self, variables: &Variables) -> Result<Arc<Plan>, RequestError> {
        let planned = self
            .document
            .plan(self.model, &self.planning, self.operation, variables)?;
        Ok(planned.plan().clone())
    }

    /// Checks the limits as for a request.
    fn check(&self, plan: &Plan, variables: &Variables) -> Result<(), RequestError> {
        self.limits.within(
            ErrorCode::QueryTooLarge,
            "root fields",
            plan.root_fields().count(),
            self.limits.root_fields,
            "SVC_LIMIT_ROOT_FIELDS",
        )?;
        plan.check(self.model, &self.limits, variables)
    }
}

impl Counted {
    fn and(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            cost: self.cost.max(other.cost),
            refusal: self.refusal.or(other.refusal),
        }
    }
}

/// The combinations of values of conditions: all of them, or of many conditions only the ones in
/// which all values are the same.
fn combinations(conditions: usize) -> Vec<Vec<bool>> {
    if conditions > MAX_CONDITIONS {
        return vec![vec![true; conditions], vec![false; conditions]];
    }

    let of_bits =
        |bits: usize| -> Vec<bool> { (0..conditions).map(|at| (bits >> at) & 1 == 1).collect() };
    (0..1_usize << conditions).map(of_bits).collect()
}

/// The codes in the comments `# svc-ignore CODE` of a document.
fn ignored(text: &str) -> Vec<String> {
    let comments = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('#'));
    comments
        .filter_map(|comment| comment.trim_start().strip_prefix(IGNORE))
        .flat_map(|codes| codes.split([',', ' ', '\t']))
        .filter(|code| !code.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{combinations, ignored};

    #[test]
    fn all_combinations_of_few_conditions_are_counted() {
        assert_eq!(combinations(0), [Vec::<bool>::new()]);
        let two = [[false, false], [true, false], [false, true], [true, true]];
        assert_eq!(combinations(2), two);
        assert_eq!(combinations(6), [[true; 6], [false; 6]]);
    }

    #[test]
    fn comments_silence_findings() {
        let text = "# svc-ignore a, b\nquery A {\n  # svc-ignore c\n  a # svc-ignore d\n}";
        assert_eq!(ignored(text), ["a", "b", "c"]);
    }
}
