//! The columns of the views and tables that the schema names; read when the database is first reached.

use std::sync::Arc;

use ahash::{HashMap, HashMapExt as _};
use sqlx::PgConnection;
use tokio::sync::Notify;

use super::DbError;

/// What the database has.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    sources: HashMap<String, Source>,
    /// Told when a view is asked for that was not there: it may have come since.
    outdated: Arc<Notify>,
}

/// A view or table.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name as the program gives it.
    pub(crate) name: String,
    /// The name for SQL.
    pub(crate) quoted: String,
    /// Whether the rows are stored, and not computed as they are read.
    pub(crate) is_table: bool,
    pub(crate) columns: HashMap<String, ColumnType>,
}

/// The type of a column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnType {
    /// In `pg_type`, behind domains.
    pub(crate) name: String,
    /// As SQL writes it.
    pub(crate) sql: String,
    /// The column's own name for SQL.
    pub(crate) quoted: String,
    /// Whether values with different bytes never sort as equal, as `1.0` and `1.00` do, or `A` and `a` in some
    /// collations.
    pub(crate) is_exact: bool,
}

const COLUMNS: &str = "\
    SELECT s.name, a.attname::text, coalesce(base.typname, t.typname)::text, format_type(a.atttypid, NULL), \
    (SELECT relkind IN ('r', 'p', 'm') FROM pg_class WHERE oid = a.attrelid), \
    coalesce(base.oid, t.oid) = ANY ('{int2,int4,int8,uuid,text,varchar,date,timestamp,timestamptz,bytea}'::regtype[]) \
    AND coalesce((SELECT collisdeterministic FROM pg_collation WHERE oid = a.attcollation), true) \
    FROM unnest($1::text[], $2::text[]) AS s(name, quoted) \
    JOIN pg_attribute a ON a.attrelid = to_regclass(s.quoted) AND a.attnum > 0 AND NOT a.attisdropped \
    JOIN pg_type t ON t.oid = a.atttypid \
    LEFT JOIN pg_type base ON base.oid = t.typbasetype AND t.typtype = 'd'";

impl Catalogue {
    /// Reads the columns of `names`; those that do not exist are left out. `outdated` is told when they are asked for.
    pub(crate) async fn load(
        connection: &mut PgConnection,
        names: &[String],
        outdated: &Arc<Notify>,
    ) -> Result<Self, sqlx::Error> {
        let quoted: Vec<String> = names.iter().map(|name| quote_path(name)).collect();
        let rows: Vec<(String, String, String, String, bool, bool)> =
            sqlx::query_as(COLUMNS).bind(names).bind(&quoted).fetch_all(connection).await?;
        let mut sources: HashMap<String, Source> = HashMap::new();
        for (name, column, type_name, sql, is_table, is_exact) in rows {
            let source = sources.entry(name).or_insert_with_key(|name| Source {
                name: name.clone(),
                quoted: quote_path(name),
                is_table,
                columns: HashMap::new(),
            });
            let quoted = quote(&column);
            source.columns.insert(column, ColumnType { name: type_name, sql, quoted, is_exact });
        }
        Ok(Self { sources, outdated: outdated.clone() })
    }

    pub(crate) fn source(&self, name: &str) -> Option<&Source> {
        self.sources.get(name)
    }

    /// The view or table, or why there is none.
    pub(crate) fn known(&self, name: &str) -> Result<&Source, DbError> {
        self.source(name).ok_or_else(|| {
            self.outdated.notify_one();
            DbError::UnknownSource(name.to_owned())
        })
    }
}

impl Source {
    /// The column `data`, when it holds JSON.
    pub(crate) fn data(&self) -> Option<&ColumnType> {
        self.columns.get("data").filter(|column| matches!(column.name.as_str(), "json" | "jsonb"))
    }
}

/// Quotes an identifier.
pub(crate) fn quote(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// Quotes `schema.name` part by part.
pub(super) fn quote_path(path: &str) -> String {
    path.split('.').map(quote).collect::<Vec<_>>().join(".")
}
