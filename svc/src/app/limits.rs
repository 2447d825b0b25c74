//! Limits from the environment.

use super::ConfigError;
use super::config::{Variables, refuse};
use crate::engine::Limits;

/// The largest number that a variable may give.
const MOST: u64 = u32::MAX as u64;

impl Limits {
    /// The limits of the environment: `SVC_LIMIT_DEPTH` and so on, one for each field. What is not set has its default.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the variable and what it may be.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var(name).ok())
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
        let given = Given(Variables(&get));
        let default = Self::default();
        let max_page = given.limit("SVC_LIMIT_MAX_PAGE", "rows", default.max_page)?;
        Ok(Self {
            body: given.limit("SVC_LIMIT_BODY", "bytes", default.body)?,
            tokens: given.limit("SVC_LIMIT_TOKENS", "tokens", default.tokens)?,
            values: given.limit("SVC_LIMIT_VALUES", "values", default.values)?,
            depth: given.limit("SVC_LIMIT_DEPTH", "levels", default.depth)?,
            aliases: given.limit("SVC_LIMIT_ALIASES", "aliases", default.aliases)?,
            root_fields: given.limit("SVC_LIMIT_ROOT_FIELDS", "fields", default.root_fields)?,
            directives: given.limit("SVC_LIMIT_DIRECTIVES", "directives", default.directives)?,
            complexity: given.limit("SVC_LIMIT_COMPLEXITY", "points", default.complexity)?,
            comparisons: given.limit("SVC_LIMIT_COMPARISONS", "comparisons", default.comparisons)?,
            hops: given.limit("SVC_LIMIT_HOPS", "relations", default.hops)?,
            order_keys: given.limit("SVC_LIMIT_ORDER_KEYS", "keys", default.order_keys)?,
            relations: given.limit("SVC_LIMIT_RELATIONS", "relations", default.relations)?,
            default_page: given.default_page(default.default_page.min(max_page), max_page)?,
            max_page,
            errors: given.limit("SVC_LIMIT_ERRORS", "errors", default.errors)?,
        })
    }
}

struct Given<'a>(Variables<'a>);

impl Given<'_> {
    fn limit<T: TryFrom<u64>>(&self, name: &str, unit: &str, default: T) -> Result<T, ConfigError> {
        let given = self.0.number(name, 0..=MOST, unit)?;
        Ok(given.and_then(|given| T::try_from(given).ok()).unwrap_or(default))
    }

    /// A list without a `limit` must not be an error each time.
    fn default_page(&self, default: u32, max_page: u32) -> Result<u32, ConfigError> {
        let name = "SVC_LIMIT_DEFAULT_PAGE";
        let given = self.limit(name, "rows", default)?;
        if given <= max_page {
            return Ok(given);
        }
        let allowed = format!("it must be at most SVC_LIMIT_MAX_PAGE, which is {max_page}");
        Err(refuse(name, given.to_string(), &allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    fn read(variables: &[(&str, &str)]) -> Result<Limits, String> {
        let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Limits::from_variables(get).map_err(|error| error.to_string())
    }

    #[test]
    fn every_limit_has_a_variable() {
        assert_eq!(read(&[]), Ok(Limits::default()));
        let named = [
            "body",
            "tokens",
            "values",
            "depth",
            "aliases",
            "root_fields",
            "directives",
            "complexity",
            "comparisons",
            "hops",
            "order_keys",
            "relations",
            "default_page",
            "max_page",
            "errors",
        ];
        let shown = format!("{:?}", Limits::default());
        assert_eq!(shown.matches(": ").count(), named.len(), "{shown}");
        for name in named {
            let variable = format!("SVC_LIMIT_{}", name.to_uppercase());
            let read = read(&[(&variable, "7")]).unwrap();
            assert!(format!("{read:?}").contains(&format!("{name}: 7")), "{variable}: {read:?}");
        }
    }

    #[test]
    fn pages_fit_each_other() {
        assert_eq!(read(&[("SVC_LIMIT_MAX_PAGE", "10")]).map(|limits| limits.default_page), Ok(10));
        let error = read(&[("SVC_LIMIT_MAX_PAGE", "10"), ("SVC_LIMIT_DEFAULT_PAGE", "11")]).unwrap_err();
        assert_eq!(error, "SVC_LIMIT_DEFAULT_PAGE is \"11\"; it must be at most SVC_LIMIT_MAX_PAGE, which is 10");
        let error = read(&[("SVC_LIMIT_DEPTH", "-1")]).unwrap_err();
        assert_eq!(error, "SVC_LIMIT_DEPTH is \"-1\"; it must be a number of levels from 0 to 4294967295");
    }
}
