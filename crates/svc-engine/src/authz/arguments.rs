//! The arguments of the operation to authorize.

use std::sync::OnceLock;

use async_graphql::Value;
use indexmap::IndexMap;

/// Coerced arguments by Rust name; absent ones are left out. Most authorizers never read them, so
/// the map is built on first use.
#[derive(Clone)]
pub(crate) struct Arguments {
    given: Vec<(String, Value)>,
    map: OnceLock<IndexMap<String, Value>>,
}

impl Arguments {
    pub(super) fn map(&self) -> &IndexMap<String, Value> {
        self.map
            .get_or_init(|| self.given.iter().cloned().collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.iter()
            .find(|(given, _)| *given == name)
            .map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.given
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }
}

impl FromIterator<(String, Value)> for Arguments {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(given: I) -> Self {
        Self {
            given: given.into_iter().collect(),
            map: OnceLock::new(),
        }
    }
}
