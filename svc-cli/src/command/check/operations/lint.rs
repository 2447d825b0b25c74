//! The findings about one operation.

use super::code::Code;
use crate::command::check::finding::Finding;
use crate::program::{Limits, Operation, PageSize, Place};

/// The share of a limit above which an operation is near it, in percent.
const NEAR: u64 = 80;

/// A finding about an operation.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) code: Code,
    /// Whether it makes the check fail.
    pub(super) is_failure: bool,
    pub(super) finding: Finding,
}

impl Found {
    pub(super) fn failure(
        code: Code,
        operation: &Operation,
        line: u32,
        problem: &str,
        fix: impl Into<String>,
    ) -> Self {
        let name = operation.shown();
        let problem = format!("{problem} ({})", code.as_str());
        let finding = if operation.is_file {
            let place = Place {
                file: operation.source.clone(),
                line,
            };
            Finding::new(&place, name, problem, fix)
        } else {
            Finding::without_place(format!("{}: {name}", operation.source), problem, fix)
        };

        Self {
            code,
            is_failure: true,
            finding,
        }
    }

    fn hint(
        code: Code,
        operation: &Operation,
        line: u32,
        problem: &str,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            is_failure: false,
            ..Self::failure(code, operation, line, problem, fix)
        }
    }
}

/// Returns the findings about an operation that its document and the limits alone cause.
pub(super) fn check(operation: &Operation, limits: &Limits) -> Vec<Found> {
    let pages = operation
        .pages
        .iter()
        .filter_map(|page| self::page(operation, page, limits));

    let mut found: Vec<_> = pages.collect();
    match &operation.refusal {
        Some(refusal) => found.push(rejected(operation, refusal, limits)),
        None => found.extend(near(operation, limits)),
    }

    if operation.name.is_none() {
        found.push(Found::hint(
            Code::Anonymous,
            operation,
            operation.line,
            "it has no name for metrics, traces and rate limits",
            "name it: query NAME { … }",
        ));
    }

    found.extend(operation.deprecated.iter().map(|used| {
        Found::hint(
            Code::Deprecated,
            operation,
            used.line,
            &format!("`{}` is deprecated: {}", used.element, used.reason),
            "remove it from the document, so that the schema can drop it",
        )
    }));

    found
}

/// The finding about a page: larger than any page may be, or as large as clients want.
fn page(operation: &Operation, page: &PageSize, limits: &Limits) -> Option<Found> {
    let PageSize {
        argument,
        line,
        variable,
        size,
    } = page;

    let most = limits.max_page;
    if let Some(size) = size.filter(|size| *size > i64::from(most)) {
        let what = match variable {
            Some(name) => {
                format!("the default of `${name}` for `{argument}` is {size}, but")
            }
            None => format!("`{argument}` is {size}, but"),
        };

        return Some(Found::failure(
            Code::PageTooLarge,
            operation,
            *line,
            &format!("{what} a page has at most {most} rows"),
            format!("write a number up to {most}, or raise SVC_LIMIT_MAX_PAGE"),
        ));
    }

    let name = variable.as_ref()?;
    let (cost, limit) = (operation.highest_cost, limits.complexity);
    let problem = format!(
        "`{argument}` is the variable `${name}` without an upper bound: clients may request up to {most} rows; with the \
         largest pages, the operation costs {cost} of {limit}"
    );

    Some(Found::hint(
        Code::PageVariable,
        operation,
        *line,
        &problem,
        "write the number into the document, or lower SVC_LIMIT_MAX_PAGE",
    ))
}

/// The finding about an operation that exceeds a limit, or that cannot run at all.
fn rejected(operation: &Operation, refusal: &str, limits: &Limits) -> Found {
    let fix = "change the document, or raise the limit";
    if limits.enforced {
        let problem = format!("clients get an error: {refusal}");
        return Found::failure(Code::Rejected, operation, operation.line, &problem, fix);
    }

    let problem = format!("clients would get an error without SVC_LIMIT_MODE=warn: {refusal}");
    Found::hint(Code::Rejected, operation, operation.line, &problem, fix)
}

/// The findings about counts near their limits.
fn near(operation: &Operation, limits: &Limits) -> impl Iterator<Item = Found> {
    let counts = [
        ("depth", operation.depth, limits.depth, "SVC_LIMIT_DEPTH"),
        (
            "cost",
            operation.cost,
            limits.complexity,
            "SVC_LIMIT_COMPLEXITY",
        ),
    ];

    let is_near = |count: u64, limit: u64| count.saturating_mul(100) > limit.saturating_mul(NEAR);
    counts
        .into_iter()
        .filter(move |(_, count, limit, _)| is_near(*count, *limit))
        .map(move |(what, count, limit, setting)| {
            Found::hint(
                Code::NearLimit,
                operation,
                operation.line,
                &format!("its {what} is {count}, more than {NEAR} % of the limit {limit}"),
                format!("select less, or raise {setting}"),
            )
        })
}
