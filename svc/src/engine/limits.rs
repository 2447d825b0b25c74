//! Limits on documents: on by default, and settable.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Document;

use super::coerce::SentVariables;
use super::merging;
use super::nesting::Nesting;
use super::request_error::RequestError;
use crate::ErrorCode;
use crate::json::ExactJson;
use crate::schema::Model;

/// Steps over selections and fragments that validating a document may take: some 50 ms.
const MAX_STEPS: usize = 1_000_000;
/// Steps of merging that validating a document may take: some 50 ms.
const MAX_MERGING: usize = 200_000;

/// What a document may cost before it is refused. All limits are on by default. Each field says the environment variable
/// that [`from_env`](Self::from_env) reads; 0 allows none.
///
/// ```
/// let limits = svc::Limits { depth: 8, ..svc::Limits::default() };
/// assert_eq!(limits.complexity, 10_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `SVC_LIMIT_BODY`: bytes of a request body.
    pub body: usize,
    /// `SVC_LIMIT_TOKENS`: tokens of a document, white space and comments included.
    pub tokens: usize,
    /// `SVC_LIMIT_VALUES`: values in the variables of a request: list elements and object fields.
    pub values: usize,
    /// `SVC_LIMIT_DEPTH`: levels of nested fields, and of conditions and orders inside their arguments; introspection has
    /// a limit of its own.
    pub depth: usize,
    /// `SVC_LIMIT_ALIASES`: aliases in a document.
    pub aliases: usize,
    /// `SVC_LIMIT_ROOT_FIELDS`: root fields of an operation.
    pub root_fields: usize,
    /// `SVC_LIMIT_DIRECTIVES`: directives in a document.
    pub directives: usize,
    /// `SVC_LIMIT_COMPLEXITY`: the complexity of an operation: a scalar costs 1, an object 1 and its children, a list 1 and
    /// its children times the page size: its argument `limit`, `first` or `last`, or 5 for a list without one. Comparisons,
    /// hops and order keys in the arguments of a field cost 1 each.
    pub complexity: u64,
    /// `SVC_LIMIT_COMPARISONS`: comparisons in the filters of an operation. A list, as `in` has it, counts as one for every
    /// 50 values.
    pub comparisons: u64,
    /// `SVC_LIMIT_HOPS`: relations that the filters and orders of an operation follow. One behind another counts one more
    /// than that.
    pub hops: u64,
    /// `SVC_LIMIT_ORDER_KEYS`: keys in the orders of an operation.
    pub order_keys: u64,
    /// `SVC_LIMIT_RELATIONS`: relations that an operation selects.
    pub relations: u64,
    /// `SVC_LIMIT_DEFAULT_PAGE`: rows of a list that gives no `limit`.
    pub default_page: u32,
    /// `SVC_LIMIT_MAX_PAGE`: the largest `limit`.
    pub max_page: u32,
    /// `SVC_LIMIT_ERRORS`: errors in an answer.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1_000_000,
            tokens: 15_000,
            values: 20_000,
            depth: 15,
            aliases: 100,
            root_fields: 50,
            directives: 100,
            complexity: 10_000,
            comparisons: 200,
            hops: 12,
            order_keys: 50,
            relations: 100,
            default_page: 20,
            max_page: 1_000,
            errors: 50,
        }
    }
}

impl Limits {
    /// How deep the parser may recurse; over the depth limit because values and fragments nest as well.
    pub(crate) fn recursion(&self) -> usize {
        self.depth * 2 + 64
    }

    /// Checks the size of the variables.
    pub(crate) fn check_variables(&self, variables: &SentVariables) -> Result<(), RequestError> {
        let found = variables.iter().map(|(_, value)| values(value)).sum::<usize>() + variables.len();
        if found <= self.values {
            return Ok(());
        }
        let message =
            format!("the variables hold {found} values; at most {} are allowed (SVC_LIMIT_VALUES)", self.values);
        Err(RequestError::new(ErrorCode::QueryTooLarge, message))
    }

    /// Checks what can be counted before validation, in time linear to the document's length.
    pub(crate) fn check(&self, document: &Document) -> Result<(), RequestError> {
        let nesting = Nesting::of(document, MAX_STEPS);
        within(ErrorCode::QueryTooLarge, "aliases", nesting.aliases, self.aliases, "SVC_LIMIT_ALIASES")?;
        within(ErrorCode::QueryTooLarge, "directives", nesting.directives, self.directives, "SVC_LIMIT_DIRECTIVES")?;
        within(ErrorCode::QueryTooDeep, "levels", nesting.depth, self.depth, "SVC_LIMIT_DEPTH")?;
        let levels = "levels of selections and fragments";
        within(ErrorCode::QueryTooDeep, levels, nesting.levels, self.recursion(), "SVC_LIMIT_DEPTH")?;
        if nesting.steps > MAX_STEPS {
            return Err(repeats_too_much());
        }
        Ok(())
    }

    /// Checks how much work merging the document's fields is, before validation does it.
    pub(crate) fn check_merging(&self, model: &Model, document: &ExecutableDocument) -> Result<(), RequestError> {
        if merging::exceeds(model, document, MAX_MERGING) { Err(repeats_too_much()) } else { Ok(()) }
    }
}

impl Limits {
    /// The error of an operation that costs more than it may, by what was counted of it so far.
    pub(crate) fn too_complex(&self, at_least: u64) -> RequestError {
        let message = format!(
            "the operation has a complexity of at least {at_least}; at most {} is allowed (SVC_LIMIT_COMPLEXITY); ask for \
             fewer fields or smaller pages",
            self.complexity
        );
        RequestError::new(ErrorCode::QueryTooComplex, message)
    }
}

fn repeats_too_much() -> RequestError {
    let message = "the document uses its fragments and repeated fields in too many combinations; spread fewer \
                   fragments, or send its operations in documents of their own";
    RequestError::new(ErrorCode::QueryTooComplex, message)
}

/// The values inside a value; the JSON parser bounds how deep they nest.
fn values(value: &ExactJson) -> usize {
    match value {
        ExactJson::Array(items) => items.len() + items.iter().map(values).sum::<usize>(),
        ExactJson::Object(fields) => fields.len() + fields.iter().map(|(_, value)| values(value)).sum::<usize>(),
        _ => 0,
    }
}

/// Refuses what is over a limit, and names the setting.
pub(crate) fn within(
    code: ErrorCode,
    what: &str,
    found: usize,
    limit: usize,
    setting: &str,
) -> Result<(), RequestError> {
    if found <= limit {
        return Ok(());
    }
    Err(RequestError::new(code, format!("the document has {found} {what}; at most {limit} are allowed ({setting})")))
}
