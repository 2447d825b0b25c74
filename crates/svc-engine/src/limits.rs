//! Limits on documents: on by default, and settable.

use std::str::FromStr;

use svc_core::settings::{
    ConfigError, Count, Flag, Group as _, Parsed, Variables, check_text, settings, variable,
};

/// The largest limit that a variable may give.
const MAX_LIMIT: u64 = u32::MAX as u64;

/// The treatment of operations that exceed a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LimitMode {
    /// They are rejected.
    #[default]
    Enforce,
    /// They run, and are recorded in the log. The limits on bodies, document tokens, pages and
    /// responses still apply, as they protect the process itself.
    Warn,
}

impl FromStr for LimitMode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "enforce" => Ok(Self::Enforce),
            "warn" => Ok(Self::Warn),
            _ => Err(()),
        }
    }
}

impl std::fmt::Display for LimitMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
        })
    }
}

settings! {
    /// The limits on the cost of a document; the field `limits` of `SvcConfig`. All are on by
    /// default; 0 allows none.
    ///
    /// ```
    /// let limits = svc::Limits { depth: 8, ..svc::Limits::default() };
    /// assert_eq!(limits.complexity, 10_000);
    /// ```
    pub struct Limits {
        /// Maximum size of a request body, in bytes.
        body: usize = 1_000_000, ["SVC_LIMIT_BODY"], Count(0..=MAX_LIMIT, "bytes");
        /// Maximum number of tokens in a document, including white space and comments.
        tokens: usize = 15_000, ["SVC_LIMIT_TOKENS"], Count(0..=MAX_LIMIT, "tokens");
        /// Maximum number of values in the variables of a request: list elements and object fields.
        values: usize = 20_000, ["SVC_LIMIT_VALUES"], Count(0..=MAX_LIMIT, "values");
        /// Maximum nesting of fields, and of conditions and orders in their arguments, in levels.
        /// Introspection has a separate limit.
        depth: usize = 15, ["SVC_LIMIT_DEPTH"], Count(0..=MAX_LIMIT, "levels");
        /// Maximum number of aliases in a document.
        aliases: usize = 100, ["SVC_LIMIT_ALIASES"], Count(0..=MAX_LIMIT, "aliases");
        /// Maximum number of root fields in an operation.
        root_fields: usize = 50, ["SVC_LIMIT_ROOT_FIELDS"], Count(0..=MAX_LIMIT, "fields");
        /// Maximum number of directives in a document.
        directives: usize = 100, ["SVC_LIMIT_DIRECTIVES"], Count(0..=MAX_LIMIT, "directives");
        /// Maximum complexity of an operation. A scalar costs 1, an object 1 plus its children, and
        /// a list 1 plus its children times the page size: its argument `limit`, `first` or `last`,
        /// or 5 for a list without one. Each comparison, hop and order key in the arguments of a
        /// field costs 1.
        complexity: u64 = 10_000, ["SVC_LIMIT_COMPLEXITY"], Count(0..=MAX_LIMIT, "points");
        /// Maximum number of comparisons in the filters of an operation. A list, as for `in`,
        /// counts as one for every 50 values, a case-insensitive text search as 4, a regular
        /// expression or a JSON path as 10.
        comparisons: u64 = 200, ["SVC_LIMIT_COMPARISONS"], Count(0..=MAX_LIMIT, "comparisons");
        /// Maximum number of relations that the filters and orders of an operation follow. In a
        /// chain, each relation counts one more than the one before it.
        hops: u64 = 12, ["SVC_LIMIT_HOPS"], Count(0..=MAX_LIMIT, "relations");
        /// Maximum number of keys in an operation: order keys, fields to group by, and fields of
        /// `countDistinct`.
        order_keys: u64 = 50, ["SVC_LIMIT_ORDER_KEYS"], Count(0..=MAX_LIMIT, "keys");
        /// Maximum number of relations that an operation selects.
        relations: u64 = 100, ["SVC_LIMIT_RELATIONS"], Count(0..=MAX_LIMIT, "relations");
        /// Page size of a list without `limit`, in rows.
        default_page: u32 = 20, ["SVC_LIMIT_DEFAULT_PAGE"], Count(0..=MAX_LIMIT, "rows");
        /// Maximum page size: the largest allowed `limit`, `first` or `last`.
        max_page: u32 = 1_000, ["SVC_LIMIT_MAX_PAGE"], Count(0..=MAX_LIMIT, "rows");
        /// Maximum number of errors in a response.
        errors: usize = 50, ["SVC_LIMIT_ERRORS"], Count(1..=MAX_LIMIT, "errors");
        /// Maximum size of a response, in bytes.
        answer: usize = 33_554_432, ["SVC_LIMIT_ANSWER"], Count(0..=MAX_LIMIT, "bytes");
        /// Treatment of operations that exceed a limit: `enforce` rejects them, `warn` runs and
        /// logs them.
        mode: LimitMode = LimitMode::Enforce, ["SVC_LIMIT_MODE"], Parsed("enforce or warn");
        /// Includes the cost of operations in responses, in `extensions.cost`.
        show_cost: bool = false, ["SVC_SHOW_COST"], Flag;
    }
}

impl Limits {
    /// Reads the limits of the environment: `SVC_LIMIT_DEPTH` and so on, one for each field. What
    /// is not set has its default.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_env() -> Result<Self, ConfigError> {
        check_text(&Self::names())?;
        Self::from_variables(variable)
    }

    /// Reads variables from `get`.
    ///
    /// ```
    /// use svc::Limits;
    ///
    /// let error = Limits::from_variables(|name| (name == "SVC_LIMIT_HOPS").then(|| "few".to_owned())).unwrap_err();
    /// assert_eq!(error.to_string(), "SVC_LIMIT_HOPS is \"few\"; it must be a number of relations from 0 to 4294967295");
    /// ```
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let variables = Variables(&get);
        Self::read(&variables)?.fitting(&variables)
    }

    /// The limits with a default page that the largest one allows: a list without a `limit` must
    /// not be an error each time.
    #[doc(hidden)]
    pub fn fitting(self, variables: &Variables<'_>) -> Result<Self, ConfigError> {
        let name = "SVC_LIMIT_DEFAULT_PAGE";
        let Self {
            default_page,
            max_page,
            ..
        } = self;

        // A lower maximum also lowers the default; only a default that is set explicitly is an
        // error.
        match variables.text(name) {
            Some(given) if default_page > max_page => {
                let allowed = format!("it must be at most SVC_LIMIT_MAX_PAGE, which is {max_page}");
                Err(ConfigError::new(name, given, &allowed))
            }
            _ => Ok(Self {
                default_page: default_page.min(max_page),
                ..self
            }),
        }
    }
}
