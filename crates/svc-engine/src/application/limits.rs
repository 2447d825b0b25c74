//! Limits on documents: on by default, and settable.

use std::str::FromStr;

use svc_core::settings::{
    ConfigError, Count, Flag, Group as _, Parsed, Variables, check_text, settings, variable,
};

/// The largest limit that a variable may give.
const MAX_LIMIT: u64 = u32::MAX as u64;

/// The consequence for an operation that is over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitMode {
    /// It is refused.
    #[default]
    Enforce,
    /// It runs, and the log says that it would be refused. What protects the process itself is
    /// still refused: limits on the sizes of bodies, documents and answers.
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
    /// The limits of what a document may cost before it is refused; the field `limits` of
    /// `SvcConfig`. All are on by default; 0 allows none.
    ///
    /// ```
    /// let limits = svc::Limits { depth: 8, ..svc::Limits::default() };
    /// assert_eq!(limits.complexity, 10_000);
    /// ```
    pub struct Limits {
        /// Bytes of a request body.
        body: usize = 1_000_000, ["SVC_LIMIT_BODY"], Count(0..=MAX_LIMIT, "bytes");
        /// Tokens of a document, white space and comments included.
        tokens: usize = 15_000, ["SVC_LIMIT_TOKENS"], Count(0..=MAX_LIMIT, "tokens");
        /// Values in the variables of a request: list elements and object fields.
        values: usize = 20_000, ["SVC_LIMIT_VALUES"], Count(0..=MAX_LIMIT, "values");
        /// Levels of nested fields, and of conditions and orders inside their arguments;
        /// introspection has a limit of its own.
        depth: usize = 15, ["SVC_LIMIT_DEPTH"], Count(0..=MAX_LIMIT, "levels");
        /// Aliases in a document.
        aliases: usize = 100, ["SVC_LIMIT_ALIASES"], Count(0..=MAX_LIMIT, "aliases");
        /// Root fields of an operation.
        root_fields: usize = 50, ["SVC_LIMIT_ROOT_FIELDS"], Count(0..=MAX_LIMIT, "fields");
        /// Directives in a document.
        directives: usize = 100, ["SVC_LIMIT_DIRECTIVES"], Count(0..=MAX_LIMIT, "directives");
        /// The complexity of an operation: a scalar costs 1, an object 1 and its children, a list 1
        /// and its children times the page size: its argument `limit`, `first` or `last`, or 5 for
        /// a list without one. Comparisons, hops and order keys in the arguments of a field cost 1
        /// each.
        complexity: u64 = 10_000, ["SVC_LIMIT_COMPLEXITY"], Count(0..=MAX_LIMIT, "points");
        /// Comparisons in the filters of an operation. A list, as `in` has it, counts as one for
        /// every 50 values, a text that is looked for in any case as 4, a regular expression or a
        /// path into JSON as 10.
        comparisons: u64 = 200, ["SVC_LIMIT_COMPARISONS"], Count(0..=MAX_LIMIT, "comparisons");
        /// Relations that the filters and orders of an operation follow. One behind another counts
        /// one more than that.
        hops: u64 = 12, ["SVC_LIMIT_HOPS"], Count(0..=MAX_LIMIT, "relations");
        /// Keys in the orders of an operation, fields that its groups are by, and fields of
        /// `countDistinct`.
        order_keys: u64 = 50, ["SVC_LIMIT_ORDER_KEYS"], Count(0..=MAX_LIMIT, "keys");
        /// Relations that an operation selects.
        relations: u64 = 100, ["SVC_LIMIT_RELATIONS"], Count(0..=MAX_LIMIT, "relations");
        /// Rows of a list that gives no `limit`.
        default_page: u32 = 20, ["SVC_LIMIT_DEFAULT_PAGE"], Count(0..=MAX_LIMIT, "rows");
        /// The largest `limit`.
        max_page: u32 = 1_000, ["SVC_LIMIT_MAX_PAGE"], Count(0..=MAX_LIMIT, "rows");
        /// Errors in an answer.
        errors: usize = 50, ["SVC_LIMIT_ERRORS"], Count(0..=MAX_LIMIT, "errors");
        /// Bytes of an answer.
        answer: usize = 33_554_432, ["SVC_LIMIT_ANSWER"], Count(0..=MAX_LIMIT, "bytes");
        /// The consequence for an operation that is over a limit: it is refused, or runs and is
        /// noted in the log.
        mode: LimitMode = LimitMode::Enforce, ["SVC_LIMIT_MODE"], Parsed("enforce or warn");
        /// Whether answers say what their operation costs, in `extensions.cost`.
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
