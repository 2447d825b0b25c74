//! Functions that compute a value from a row: their first parameter is a row of the view.

use std::sync::Arc;

use super::Catalog;
use super::functions::{Function, FunctionSpec, Functions, Parameter};
use super::source::Source;
use crate::{DbError, Param, Probe};
use svc_core::exact_json::ExactJson;

impl FunctionSpec {
    /// Returns the only candidate that accepts a row of the view and the arguments.
    pub(super) fn choose_of_row(
        &self,
        candidates: &[Arc<Function>],
        view: Option<&Source>,
    ) -> Result<Arc<Function>, String> {
        let (name, Some(view)) = (&self.name, view) else {
            return Err(format!(
                "`{}` gets a row of a view that does not exist",
                self.name
            ));
        };

        let of_row: Vec<_> = candidates
            .iter()
            .filter(|candidate| view.is_relation(candidate.row_of))
            .cloned()
            .collect();

        if !candidates.is_empty() && of_row.is_empty() {
            let view = &view.name;
            return Err(format!(
                "`{name}` does not take a row of `{view}` as its first parameter, as in `p {view}`"
            ));
        }

        let function = self.choose(&of_row)?;
        if let Some(denied) = view
            .in_order
            .iter()
            .find(|column| view.denied.contains(*column))
        {
            return Err(format!(
                "`{name}` gets all of a row, and the service may not read `{denied}` of `{}`",
                view.name
            ));
        }

        match &*function {
            function if function.returns_set => Err(format!(
                "`{name}` answers with a set, and a field has one value; let it return an array"
            )),
            function if function.is_volatile => Err(format!(
                "`{name}` is volatile, and a read may run twice; declare it STABLE or IMMUTABLE"
            )),
            _ => Ok(function),
        }
    }
}

impl Function {
    /// Its call for a row, given as SQL. The arguments are bound after `params`.
    pub fn of_row(&self, row: &str, args: &[Option<ExactJson>], params: &mut Vec<Param>) -> String {
        let args = || self.params.iter().skip(1).zip(args);
        let given: Vec<_> = args()
            .map(|(param, arg)| param.given(arg.as_ref()))
            .collect();
        let call = self.call_behind(Some(row), &given, params.len());
        self.bind_of_row(args().map(|(_, arg)| arg), params);
        call
    }

    /// The check of the arguments of a call for a row; `before` values are bound before them.
    pub fn probe_of_row(&self, args: &[Option<ExactJson>], before: usize) -> Option<Probe> {
        let params = self.params.get(1..)?;
        let given: Vec<_> = params
            .iter()
            .zip(args)
            .map(|(param, arg)| param.given(arg.as_ref()))
            .collect();
        Parameter::probe(params, &given, before)
    }

    /// Binds the arguments of a call for a row.
    pub fn bind_of_row<'a>(
        &self,
        args: impl Iterator<Item = &'a Option<ExactJson>>,
        params: &mut Vec<Param>,
    ) {
        let args = self.params.iter().skip(1).zip(args);
        params.extend(args.filter_map(|(param, arg)| param.bound(arg.as_ref()?)));
    }
}

impl Catalog {
    /// Stores the row functions: the text of statements depends on them.
    pub(crate) fn keep_functions(&mut self, functions: &Functions) {
        let of_rows = functions.iter().filter(|(spec, _)| spec.row_of.is_some());
        self.row_functions = of_rows
            .map(|(spec, function)| (spec.clone(), function.clone()))
            .collect();
    }

    /// Whether the row functions have the same calls.
    pub(super) fn has_functions_of(&self, other: &Self) -> bool {
        self.row_functions.len() == other.row_functions.len()
            && self.row_functions.iter().all(|(spec, function)| {
                match (function, other.row_functions.get(spec)) {
                    (Ok(one), Some(Ok(other))) => one.is_same(other),
                    (Err(one), Some(Err(other))) => one == other,
                    _ => false,
                }
            })
    }

    /// The row function, or why it cannot be called.
    pub fn row_function(&self, spec: &FunctionSpec) -> Result<&Function, DbError> {
        match self.row_functions.get(spec) {
            Some(Ok(function)) => Ok(function),
            found => {
                self.look_again();
                let unknown = || format!("the function `{}` does not exist", spec.name);
                let why = found.and_then(|found| found.as_ref().err().cloned());
                Err(DbError::UnknownFunction(why.unwrap_or_else(unknown)))
            }
        }
    }
}
