//! Values of the request that functions receive before their arguments.

use std::collections::HashMap;

use super::Context;
use svc_core::{Error, Result};

/// Reads a value from a request; `None` is SQL null.
pub(crate) type ContextValue = Box<dyn Fn(&Context<'_>) -> Result<Option<String>> + Send + Sync>;

/// The values, by the names that mutations use.
#[derive(Default)]
pub struct ContextValues(HashMap<String, ContextValue>);

impl ContextValues {
    pub fn insert(&mut self, name: String, value: ContextValue) {
        self.0.insert(name, value);
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the value for a request.
    pub fn take(&self, name: &str, context: &Context<'_>) -> Result<Option<String>> {
        let value = self
            .0
            .get(name)
            .ok_or_else(|| Error::internal(format!("there is no context value `{name}`")))?;
        value(context)
    }
}
