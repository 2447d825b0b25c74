//! Checks documents and variables against their limits.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Document;

use super::merge_cost;
use super::nesting::Nesting;
use crate::graphql::coerce::SentVariables;
use crate::graphql::error::RequestError;
use crate::limits::{LimitMode, Limits};
use svc_core::exact_json::ExactJson;
use svc_core::schema::Model;
use svc_core::{Error, ErrorCode};
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, record};

/// The maximum number of steps over selections and fragments for validating a document: some 50 ms.
const MAX_STEPS: usize = 1_000_000;
/// The maximum number of merge steps for validating a document: some 50 ms.
const MAX_MERGING: usize = 200_000;

impl Limits {
    /// Returns the recursion limit of the parser; higher than the depth limit because values and
    /// fragments nest as well.
    pub(crate) fn recursion(&self) -> usize {
        self.depth * 2 + 64
    }

    /// Checks the size of the variables.
    pub(crate) fn check_variables(&self, variables: &SentVariables) -> Result<(), RequestError> {
        let found = variables
            .iter()
            .map(|(_, value)| values(value))
            .sum::<usize>()
            + variables.len();

        if found <= self.values {
            return Ok(());
        }

        let message = format!(
            "the variables hold {found} values; at most {} are allowed (SVC_LIMIT_VALUES)",
            self.values
        );

        self.over(RequestError::new(ErrorCode::QueryTooLarge, message))
    }

    /// Handles an operation that exceeds a limit: rejects it with this error, or only records it in
    /// `LimitMode::Warn`.
    #[cold]
    pub(crate) fn over(&self, error: RequestError) -> Result<(), RequestError> {
        if self.mode == LimitMode::Enforce {
            return Err(error);
        }
        let event = SecurityEvent::new(SecurityEventType::QueryLimitTried).reason(error.message);
        record(event.metadata("code", error.code.as_str()));
        Ok(())
    }

    /// The error of a response that exceeds its maximum size.
    #[cold]
    pub(crate) fn answer_too_large(&self) -> Error {
        let most = self.answer;
        let message = format!(
            "the answer is larger than {most} bytes (SVC_LIMIT_ANSWER); ask for fewer fields or smaller pages"
        );
        Error::new(ErrorCode::QueryTooLarge, message)
    }

    /// Checks a count against its limit; the error names the setting.
    pub(crate) fn within(
        &self,
        code: ErrorCode,
        what: &str,
        found: usize,
        limit: usize,
        setting: &str,
    ) -> Result<(), RequestError> {
        within(code, what, found, limit, setting).or_else(|error| self.over(error))
    }

    /// Checks the counts that are available before validation, in time linear in the document's
    /// length.
    #[doc(hidden)]
    pub fn check(&self, document: &Document) -> Result<(), RequestError> {
        let nesting = Nesting::of(document, MAX_STEPS);
        self.within(
            ErrorCode::QueryTooLarge,
            "aliases",
            nesting.aliases,
            self.aliases,
            "SVC_LIMIT_ALIASES",
        )?;

        self.within(
            ErrorCode::QueryTooLarge,
            "directives",
            nesting.directives,
            self.directives,
            "SVC_LIMIT_DIRECTIVES",
        )?;

        self.within(
            ErrorCode::QueryTooDeep,
            "levels",
            nesting.depth,
            self.depth,
            "SVC_LIMIT_DEPTH",
        )?;

        // Checked even in `LimitMode::Warn`, like the steps below: the recursion and the time of
        // validation depend on these bounds.
        let levels = "levels of selections and fragments";
        within(
            ErrorCode::QueryTooDeep,
            levels,
            nesting.levels,
            self.recursion(),
            "SVC_LIMIT_DEPTH",
        )?;

        if nesting.steps > MAX_STEPS {
            return Err(repeats_too_much());
        }

        Ok(())
    }

    /// Checks the amount of work for merging the document's fields, before validation does it.
    pub(crate) fn check_merging(
        &self,
        model: &Model,
        document: &ExecutableDocument,
    ) -> Result<(), RequestError> {
        if merge_cost::exceeds(model, document, MAX_MERGING) {
            Err(repeats_too_much())
        } else {
            Ok(())
        }
    }
}

impl Limits {
    /// The error of an operation that costs more than allowed, with the cost counted so far.
    #[cold]
    pub(crate) fn too_complex(&self, at_least: u64) -> RequestError {
        let message = format!(
            "the operation has a complexity of at least {at_least}; at most {} is allowed (SVC_LIMIT_COMPLEXITY); ask for \
             fewer fields or smaller pages",
            self.complexity
        );
        RequestError::new(ErrorCode::QueryTooComplex, message)
    }
}

#[cold]
fn repeats_too_much() -> RequestError {
    let message = "the document uses its fragments and repeated fields in too many combinations; spread fewer \
                   fragments, or send its operations in documents of their own";
    RequestError::new(ErrorCode::QueryTooComplex, message)
}

/// The number of values inside a value; the JSON parser bounds their nesting depth.
fn values(value: &ExactJson) -> usize {
    match value {
        ExactJson::Array(items) => items.len() + items.iter().map(values).sum::<usize>(),
        ExactJson::Object(fields) => {
            fields.len() + fields.iter().map(|(_, value)| values(value)).sum::<usize>()
        }
        _ => 0,
    }
}

/// Rejects a count over its limit; the error names the setting.
fn within(
    code: ErrorCode,
    what: &str,
    found: usize,
    limit: usize,
    setting: &str,
) -> Result<(), RequestError> {
    if found <= limit {
        return Ok(());
    }
    Err(RequestError::new(
        code,
        format!("the document has {found} {what}; at most {limit} are allowed ({setting})"),
    ))
}
