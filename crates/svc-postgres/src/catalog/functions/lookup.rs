//! The look-up of functions in the catalog, by name.

use std::sync::Arc;

use ahash::{HashMap, HashMapExt as _};
use arc_swap::ArcSwapOption;

use super::{Function, FunctionSpec, Functions, Parameter};
use crate::catalog::source::{ColumnType, Source};
use crate::statement::quote;
use crate::{Oid, Param, Statement};

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

/// A row of the catalog.
pub(crate) type Row = (
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
pub(crate) fn texts(texts: Vec<&str>) -> Param {
    Param::Texts(texts.into_iter().map(str::to_owned).collect())
}

/// The distinct names of functions.
pub(crate) fn names(specs: &[FunctionSpec]) -> Vec<&str> {
    let mut names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The schema of each name, empty if none is given, and the function name.
pub(crate) fn split<'a>(names: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    names
        .iter()
        .map(|name| name.split_once('.').unwrap_or(("", name)))
        .unzip()
}

impl Function {
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
}
