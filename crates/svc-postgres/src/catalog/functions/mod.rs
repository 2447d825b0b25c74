//! The functions called by fields: their parameters, read from the catalog.

mod lookup;
mod parameter;
mod spec;

use std::sync::Arc;

use ahash::HashMap;
use arc_swap::ArcSwapOption;

pub(crate) use self::lookup::{Row, names, split, texts};
pub(crate) use self::lookup::{choose, lookup};
use self::parameter::Given;
pub(super) use self::parameter::Parameter;
pub use self::spec::{ArgForm, FunctionSpec};
use super::source::{ColumnType, Source};
use crate::statement::quote;
use crate::{Oid, RowsCall, Statement, StatementSubject, StatementText};
use svc_core::exact_json::ExactJson;

/// A function of the database.
#[derive(Debug)]
pub struct Function {
    /// The name for SQL.
    pub(super) quoted: String,
    kind: String,
    /// Whether it returns rows.
    pub(crate) returns_set: bool,
    /// Whether a result may have a `status`.
    pub(crate) may_have_status: bool,
    returns_void: bool,
    allowed: bool,
    /// Whether it may write, or return a different result each time.
    pub(super) is_volatile: bool,
    /// The view or table whose rows it returns; 0 if there is none.
    rows_of: Oid,
    /// The view or table whose row is its first parameter; 0 if there is none.
    pub row_of: Oid,
    /// The type of its result.
    pub result: ColumnType,
    pub(super) params: Vec<Parameter>,
    /// How many of the last parameters have a default.
    defaults: usize,
    /// The last generated call: all calls of one mutation usually have the same text.
    written: ArcSwapOption<(Form, StatementText)>,
}

/// The arguments' forms and the condition, which determine the text of a call.
type Form = (Vec<Given>, Option<&'static str>);

/// Part of the error that makes PostgreSQL roll back a call. Computing a second row raises it,
/// after the result.
pub(crate) const ROLLED_BACK: &str = "the mutation failed and is rolled back";

/// The called functions, or why each cannot be called.
pub(crate) type Functions = HashMap<FunctionSpec, Result<Arc<Function>, String>>;

impl Function {
    /// Whether both have the same call and the same kind of result.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let called = |function: &Self| {
            let Self {
                returns_set,
                may_have_status,
                returns_void,
                allowed,
                defaults,
                ..
            } = function;

            (
                *returns_set,
                *may_have_status,
                *returns_void,
                *allowed,
                *defaults,
                function.is_volatile,
            )
        };

        called(self) == called(other)
            && (self.rows_of, self.row_of, &self.result)
                == (other.rows_of, other.row_of, &other.result)
            && (&self.quoted, &self.kind, &self.params)
                == (&other.quoted, &other.kind, &other.params)
    }

    /// Whether its last parameter is `VARIADIC "any"`, which does not accept a list.
    fn takes_anything(&self) -> bool {
        self.params
            .last()
            .is_some_and(|param| param.is_variadic && !param.is_array)
    }

    fn signature(&self, name: &str) -> String {
        let types: Vec<_> = self.params.iter().map(|param| param.sql.as_str()).collect();
        format!("`{name}({})`", types.join(", "))
    }

    /// Whether it accepts the arguments of a call, after the row if there is one.
    pub(super) fn takes(&self, spec: &FunctionSpec) -> bool {
        let (args, behind) = (&spec.args, usize::from(spec.row_of.is_some()));
        let Some(params) = self.params.get(behind..) else {
            return false;
        };

        let required = params.len().saturating_sub(self.defaults);
        let fits = |(param, form): (&Parameter, &ArgForm)| match form {
            ArgForm::Text => !param.is_array,
            ArgForm::List => param.is_array || param.is_json,
            ArgForm::Json => param.is_json,
            ArgForm::Null => true,
        };

        (required..=params.len()).contains(&args.len()) && params.iter().zip(args).all(fits)
    }

    /// The statement that calls it. An absent argument uses the parameter's default. A result that
    /// meets `undone_if` rolls the call back.
    pub(crate) fn statement(
        &self,
        args: &[Option<ExactJson>],
        undone_if: Option<&'static str>,
    ) -> Statement {
        let args = || self.params.iter().zip(args);
        let given: Vec<Given> = args()
            .map(|(param, arg)| param.given(arg.as_ref()))
            .collect();
        let params = args()
            .filter_map(|(param, arg)| param.bound(arg.as_ref()?))
            .collect();
        if let Some(written) = &*self.written.load()
            && written.0.0 == given
            && written.0.1 == undone_if
        {
            return Statement::new(written.1.clone(), params);
        }

        let subject = StatementSubject {
            kind: "call",
            name: self.quoted.replace('"', "").into(),
        };

        let text = StatementText::about(
            Some(subject),
            self.text(&given, undone_if),
            None,
            Vec::new(),
        );

        self.written
            .store(Some(Arc::new(((given, undone_if), text.clone()))));

        Statement::new(text, params)
    }

    /// Its rows, as SQL whose first placeholders are the arguments.
    ///
    /// # Errors
    /// Why a query cannot read its rows as rows of `source`.
    pub fn rows(&self, source: &Source, args: &[Option<ExactJson>]) -> Result<RowsCall, String> {
        self.check_rows(source)?;
        let args = || self.params.iter().zip(args);
        let given: Vec<Given> = args()
            .map(|(param, arg)| param.given(arg.as_ref()))
            .collect();
        let params = args()
            .filter_map(|(param, arg)| param.bound(arg.as_ref()?))
            .collect();

        Ok(RowsCall {
            sql: self.call(&given).into(),
            numbered: format!("{} WITH ORDINALITY", self.call(&given)).into(),
            params,
            probe: Parameter::probe(&self.params, &given, 0),
        })
    }

    /// # Errors
    /// Why a query cannot read its rows as rows of `source`.
    pub fn check_rows(&self, source: &Source) -> Result<(), String> {
        let name = self.quoted.replace('"', "");
        if !self.returns_set || !source.is_relation(self.rows_of) {
            return Err(format!(
                "`{name}` does not answer with rows of `{0}`; let it RETURN SETOF {0}, or read another type",
                source.name
            ));
        }

        match self.is_volatile {
            true => Err(format!(
                "`{name}` is volatile, and a read may run twice; declare it STABLE"
            )),
            false => Ok(()),
        }
    }

    fn text(&self, given: &[Given], undone_if: Option<&'static str>) -> String {
        let call = self.call(given);

        // A null composite arrives as a row of nulls. `r.*` is the row even if a column is named
        // `r`.
        let Some(condition) = undone_if else {
            return format!(
                "SELECT CASE WHEN r.* IS NULL THEN NULL ELSE to_jsonb(r.*)::text END FROM {call} AS r"
            );
        };

        // For a failing result, the second row raises an error when the result is already on its
        // way. Other ways to roll back the call cost another round trip, or write the whole result
        // to PostgreSQL's log.
        format!(
            "SELECT CASE n WHEN 1 THEN j::text ELSE ('{ROLLED_BACK}, ' || n)::boolean::text END \
             FROM (SELECT CASE WHEN r.* IS NULL THEN NULL ELSE to_jsonb(r.*) END AS j FROM {call} AS r LIMIT 1) AS answer, \
             generate_series(1, CASE WHEN {condition} THEN 2 ELSE 1 END) AS n"
        )
    }

    fn call(&self, given: &[Given]) -> String {
        self.call_behind(None, given, 0)
    }

    /// The call with a row before the arguments, whose placeholders follow the ones already bound.
    pub(super) fn call_behind(
        &self,
        row: Option<&str>,
        given: &[Given],
        mut bound: usize,
    ) -> String {
        let named = self.params.iter().all(|param| !param.name.is_empty());
        let shown = |param: &Parameter, value: String| {
            let variadic = if param.is_variadic { "VARIADIC " } else { "" };
            match named {
                true => format!("{variadic}{} => {value}", quote(&param.name)),
                false => format!("{variadic}{value}"),
            }
        };

        let (of_row, params) = self
            .params
            .split_at(usize::from(row.is_some()).min(self.params.len()));
        let mut values: Vec<_> = of_row
            .iter()
            .zip(row)
            .map(|(param, row)| shown(param, row.to_owned()))
            .collect();

        let first_default = params.len().saturating_sub(self.defaults);
        for (index, (param, arg)) in params.iter().zip(given).enumerate() {
            // By position, an argument can be omitted only if all behind it are omitted too.
            let rest_is_absent = given[index..].iter().all(|given| *given == Given::Absent);
            if *arg == Given::Absent && index >= first_default && (named || rest_is_absent) {
                continue;
            }
            let value = param.value(*arg, &mut bound);
            values.push(shown(param, value));
        }

        format!("{}({})", self.quoted, values.join(", "))
    }
}
