//! The functions called by fields: their parameters, read from the catalogue.

use std::sync::Arc;

use ahash::{HashMap, HashMapExt as _};
use arc_swap::ArcSwapOption;

use super::identifier::quote;
use super::source::{ColumnType, Source};
use super::{Oid, Param, Probe, RowsCall, Statement, StatementSubject, StatementText};
use crate::json::ExactJson;

/// The form of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ArgForm {
    /// A scalar or an enum value.
    Text,
    /// A list of scalars or enum values.
    List,
    /// An input object, or any other value that only JSON can represent.
    Json,
    /// A null of any type.
    Null,
}

/// A function and the form of its call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FunctionSpec {
    /// `name` or `schema.name`.
    pub(crate) name: String,
    /// The view whose row precedes the arguments.
    pub(crate) row_of: Option<String>,
    pub(crate) args: Vec<ArgForm>,
}

/// A function of the database.
#[derive(Debug)]
pub(crate) struct Function {
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
    pub(super) row_of: Oid,
    /// The type of its result.
    pub(crate) result: ColumnType,
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
pub(super) const ROLLED_BACK: &str = "the mutation failed and is rolled back";

/// The form of an argument in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Absent,
    Null,
    Value,
    /// A list for an array parameter.
    List,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Empty if it has no name.
    name: String,
    /// As written in SQL.
    sql: String,
    is_json: bool,
    is_array: bool,
    /// Whether it accepts any number of values, passed as a single list argument.
    is_variadic: bool,
}

/// The called functions, or why each cannot be called.
pub(crate) type Functions = HashMap<FunctionSpec, Result<Arc<Function>, String>>;

const FUNCTIONS: &str = "\
    SELECT w.name, n.nspname::text, p.proname::text, p.prokind::text, p.proretset, \
        p.prorettype = 'void'::regtype, has_function_privilege(p.oid, 'EXECUTE') \
            AND has_schema_privilege(n.oid, 'USAGE'), p.pronargdefaults::int4, \
        ARRAY(SELECT coalesce(a.name, '') FROM unnest(p.proargnames, p.proargmodes) WITH ORDINALITY AS a(name, mode, i) \
            WHERE coalesce(a.mode, 'i') IN ('i', 'b', 'v') ORDER BY a.i)::text[], \
        ARRAY(SELECT format_type(t.oid, -1) FROM unnest(p.proargtypes) WITH ORDINALITY AS a(oid, i) \
            JOIN pg_type t ON t.oid = a.oid ORDER BY a.i)::text[], \
        ARRAY(SELECT coalesce(base.typname, t.typname) FROM unnest(p.proargtypes) WITH ORDINALITY AS a(oid, i) \
            JOIN pg_type t ON t.oid = a.oid \
            LEFT JOIN pg_type base ON base.oid = t.typbasetype AND t.typtype = 'd' ORDER BY a.i)::text[], \
        CASE WHEN answer.typtype = 'c' THEN EXISTS (SELECT FROM pg_attribute a \
                WHERE a.attrelid = answer.typrelid AND a.attname = 'status' AND NOT a.attisdropped) \
            WHEN answer.typname = 'record' THEN coalesce('status' = ANY (p.proargnames), true) \
            WHEN answer.typnamespace = 'pg_catalog'::regnamespace THEN answer.typname IN ('json', 'jsonb') \
            ELSE answer.typtype IN ('b', 'd') AND answer.typcategory <> 'A' END, \
        p.provolatile = 'v', answer.typrelid, \
        coalesce((SELECT first.typrelid FROM pg_type first WHERE first.oid = p.proargtypes[0]), 0), \
        base.typname::text, format_type(answer.oid, NULL), answer.oid, base.oid, p.provariadic \
    FROM unnest($1::text[], $2::text[], $3::text[]) AS w(name, schema, function) \
    JOIN pg_proc p ON p.proname = w.function \
    JOIN pg_namespace n ON n.oid = p.pronamespace \
    JOIN pg_type answer ON answer.oid = p.prorettype \
    JOIN pg_type base ON base.oid = ( \
        WITH RECURSIVE below AS ( \
            SELECT answer.oid, answer.typtype, answer.typbasetype \
            UNION ALL SELECT t.oid, t.typtype, t.typbasetype FROM below \
            JOIN pg_type t ON t.oid = below.typbasetype WHERE below.typtype = 'd' \
        ) SELECT oid FROM below WHERE typtype <> 'd') \
    WHERE CASE WHEN w.schema = '' THEN pg_function_is_visible(p.oid) ELSE n.nspname = w.schema END \
    ORDER BY p.oid";

/// A row of the catalogue.
pub(super) type Row = (
    String,
    String,
    String,
    String,
    bool,
    bool,
    bool,
    i32,
    Vec<String>,
    Vec<String>,
    Vec<String>,
    bool,
    bool,
    Oid,
    Oid,
    String,
    String,
    Oid,
    Oid,
    Oid,
);

/// The statement that looks up functions by name.
pub(crate) fn lookup(specs: &[FunctionSpec]) -> Statement {
    let names = names(specs);
    let (schemas, functions) = split(&names);
    Statement::new(FUNCTIONS, [names, schemas, functions].map(texts).to_vec())
}

/// Selects each function among the rows of the [`lookup`], or explains why it cannot be called.
pub(crate) fn choose<'v>(
    specs: &[FunctionSpec],
    rows: Vec<Row>,
    view: impl Fn(&str) -> Option<&'v Source>,
) -> Functions {
    let mut found: HashMap<String, Vec<Arc<Function>>> = HashMap::new();
    for mut row in rows {
        found
            .entry(std::mem::take(&mut row.0))
            .or_default()
            .push(Arc::new(Function::new(&row)));
    }

    let choose = |spec: &FunctionSpec| {
        let candidates = found.get(&spec.name).map(Vec::as_slice).unwrap_or_default();
        match &spec.row_of {
            None => spec.choose(candidates),
            Some(name) => spec.choose_of_row(candidates, view(name)),
        }
    };

    specs
        .iter()
        .map(|spec| (spec.clone(), choose(spec)))
        .collect()
}

/// Texts as a single bound value.
pub(super) fn texts(texts: Vec<&str>) -> Param {
    Param::Texts(texts.into_iter().map(str::to_owned).collect())
}

/// The distinct names of functions.
pub(super) fn names(specs: &[FunctionSpec]) -> Vec<&str> {
    let mut names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The schema of each name, empty if none is given, and the function name.
pub(super) fn split<'a>(names: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    names
        .iter()
        .map(|name| name.split_once('.').unwrap_or(("", name)))
        .unzip()
}

impl FunctionSpec {
    /// Returns the only candidate that accepts the arguments.
    pub(super) fn choose(&self, candidates: &[Arc<Function>]) -> Result<Arc<Function>, String> {
        let name = &self.name;
        if candidates.is_empty() {
            return Err(format!("the function `{name}` does not exist"));
        }

        let fitting: Vec<_> = candidates
            .iter()
            .filter(|candidate| candidate.takes(self))
            .collect();
        let function = match fitting.as_slice() {
            [one] => *one,
            [] => {
                let takes: Vec<_> = candidates
                    .iter()
                    .map(|candidate| candidate.signature(name))
                    .collect();
                return Err(format!(
                    "`{name}` is called as {}, but there is {}",
                    self.shown(),
                    takes.join(" and ")
                ));
            }
            several => {
                let takes: Vec<_> = several
                    .iter()
                    .map(|candidate| candidate.signature(name))
                    .collect();
                return Err(format!(
                    "`{name}` is called as {}, which fits {}",
                    self.shown(),
                    takes.join(" and ")
                ));
            }
        };

        match function {
            function if function.kind != "f" => Err(format!(
                "`{name}` is not a function; procedures cannot be called"
            )),
            function if function.takes_anything() => Err(format!(
                "`{name}` takes any number of values of any type; declare its parameter `VARIADIC type[]`"
            )),
            function if function.returns_void => {
                Err(format!("`{name}` returns nothing; let it return a value"))
            }
            function if !function.allowed => {
                Err(format!("the service may not call the function `{name}`"))
            }
            function => Ok(function.clone()),
        }
    }

    fn shown(&self) -> String {
        let forms = self.args.iter().map(|form| match form {
            ArgForm::Text => "scalar",
            ArgForm::List => "list",
            ArgForm::Json => "jsonb",
            ArgForm::Null => "null",
        });
        let all = self.row_of.iter().map(String::as_str).chain(forms);
        format!("`{}({})`", self.name, all.collect::<Vec<_>>().join(", "))
    }
}

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

    fn new(row: &Row) -> Self {
        let (
            _,
            schema,
            name,
            kind,
            returns_set,
            returns_void,
            allowed,
            defaults,
            names,
            types,
            bases,
            ..,
        ) = row;

        let (
            ..,
            may_have_status,
            is_volatile,
            rows_of,
            row_of,
            result,
            result_sql,
            declared,
            base,
            variadic,
        ) = row;

        let params = types
            .iter()
            .zip(bases)
            .enumerate()
            .map(|(index, (sql, base))| Parameter {
                name: names.get(index).cloned().unwrap_or_default(),
                sql: sql.clone(),
                is_json: matches!(base.as_str(), "json" | "jsonb"),
                is_array: base.starts_with('_'),
                is_variadic: *variadic != 0 && index + 1 == types.len(),
            });

        Self {
            quoted: format!("{}.{}", quote(schema), quote(name)),
            kind: kind.clone(),
            returns_set: *returns_set,
            may_have_status: *may_have_status,
            returns_void: *returns_void,
            allowed: *allowed,
            is_volatile: *is_volatile,
            rows_of: *rows_of,
            row_of: *row_of,
            result: ColumnType::of_value(result, result_sql, *declared, *base),
            params: params.collect(),
            defaults: usize::try_from(*defaults).unwrap_or(0),
            written: ArcSwapOption::empty(),
        }
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
    pub(crate) fn rows(
        &self,
        source: &Source,
        args: &[Option<ExactJson>],
    ) -> Result<RowsCall, String> {
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
    pub(crate) fn check_rows(&self, source: &Source) -> Result<(), String> {
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

impl Parameter {
    pub(super) fn given(&self, arg: Option<&ExactJson>) -> Given {
        use ExactJson as Json;
        match arg {
            None => Given::Absent,
            Some(Json::Null) => Given::Null,
            Some(Json::Array(_)) if !self.is_json => Given::List,
            Some(_) => Given::Value,
        }
    }

    /// The check of arguments of these forms; `before` values are bound before them.
    pub(super) fn probe(params: &[Self], given: &[Given], before: usize) -> Option<Probe> {
        let mut count = 0;
        let given = params
            .iter()
            .zip(given)
            .filter(|(_, given)| **given != Given::Absent);
        let read =
            given.map(|(param, given)| format!("({}) IS NULL", param.value(*given, &mut count)));
        let read = read.collect::<Vec<_>>().join(", ");

        (!read.is_empty()).then(|| Probe::new(format!("SELECT ARRAY[{read}]"), before, count))
    }

    /// The SQL of a bound value.
    fn value(&self, given: Given, bound: &mut usize) -> String {
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

    pub(super) fn bound(&self, arg: &ExactJson) -> Option<Param> {
        use ExactJson as Json;
        match arg {
            Json::Null => None,
            Json::String(text) if !self.is_json => Some(Param::Text(text.clone())),
            other => Some(Param::Text(other.to_string())),
        }
    }
}
