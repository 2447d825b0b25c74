//! A parameter of a function, and the value that a call binds to it.

use crate::{Param, Probe};
use svc_core::exact_json::ExactJson;

/// The form of an argument in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    Absent,
    Null,
    Value,
    /// A list for an array parameter.
    List,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Empty if it has no name.
    pub(super) name: String,
    /// As written in SQL.
    pub(super) sql: String,
    pub(super) is_json: bool,
    pub(super) is_array: bool,
    /// Whether it accepts any number of values, passed as a single list argument.
    pub(super) is_variadic: bool,
}

impl Parameter {
    pub(crate) fn given(&self, arg: Option<&ExactJson>) -> Given {
        use ExactJson as Json;
        match arg {
            None => Given::Absent,
            Some(Json::Null) => Given::Null,
            Some(Json::Array(_)) if !self.is_json => Given::List,
            Some(_) => Given::Value,
        }
    }

    /// The check of arguments of these forms; `before` values are bound before them.
    pub(crate) fn probe(params: &[Self], given: &[Given], before: usize) -> Option<Probe> {
        let mut count = 0;
        let given = params
            .iter()
            .zip(given)
            .filter(|(_, given)| **given != Given::Absent);

        // All comparisons with null are of one type, so they fit into an array although the
        // parameters differ in type.
        let read =
            given.map(|(param, given)| format!("({}) IS NULL", param.value(*given, &mut count)));
        let read = read.collect::<Vec<_>>().join(", ");

        (!read.is_empty()).then(|| Probe::new(format!("SELECT ARRAY[{read}]"), before, count))
    }

    /// The SQL of a bound value.
    pub(super) fn value(&self, given: Given, bound: &mut usize) -> String {
        let cast = &self.sql;
        if matches!(given, Given::Absent | Given::Null) {
            return format!("NULL::{cast}");
        }

        *bound += 1;

        match given {
            Given::List => {
                format!("ARRAY(SELECT jsonb_array_elements_text(${bound}::jsonb))::{cast}")
            }
            _ => format!("${bound}::{cast}"),
        }
    }

    pub(crate) fn bound(&self, arg: &ExactJson) -> Option<Param> {
        use ExactJson as Json;
        match arg {
            Json::Null => None,
            Json::String(text) if !self.is_json => Some(Param::Text(text.clone())),
            other => Some(Param::Text(other.to_string())),
        }
    }
}
