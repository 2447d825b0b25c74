//! The catalogue of the database, as far as the types name it.

use std::collections::HashMap;

use postgres_protocol::escape::escape_identifier;
use tokio_postgres::Client;

use crate::database::reason;
use crate::failure::{Failure, Result};

/// The types behind domains: those that rows are read as.
const COLUMNS: &str = "\
    SELECT s.name, a.attname::text, \
    (WITH RECURSIVE below AS ( \
        SELECT oid, typname, typtype, typbasetype FROM pg_type WHERE oid = a.atttypid \
        UNION ALL SELECT t.oid, t.typname, t.typtype, t.typbasetype FROM below JOIN pg_type t ON t.oid = below.typbasetype \
        WHERE below.typtype = 'd' \
    ) SELECT typname::text FROM below WHERE typtype <> 'd') \
    FROM unnest($1::text[], $2::text[]) AS s(name, quoted) \
    JOIN pg_attribute a ON a.attrelid = to_regclass(s.quoted) AND a.attnum > 0 AND NOT a.attisdropped";

const FUNCTIONS: &str = "\
    SELECT (p.pronargs - p.pronargdefaults)::int, CASE WHEN p.provariadic = 0 THEN p.pronargs::int ELSE 100 END \
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
    WHERE p.proname = $2 AND CASE WHEN $1 = '' THEN pg_function_is_visible(p.oid) ELSE n.nspname = $1 END";

/// The columns of a view, each with its type.
pub(super) type Columns = HashMap<String, String>;

/// The columns of the views that exist.
pub(super) async fn columns(client: &Client, names: &[String]) -> Result<HashMap<String, Columns>> {
    let quoted: Vec<String> = names.iter().map(|name| quote_path(name)).collect();
    let rows = client.query(COLUMNS, &[&names, &quoted]).await.map_err(|error| failed(&error))?;
    let mut views: HashMap<String, Columns> = HashMap::new();
    for row in rows {
        views.entry(row.get(0)).or_default().insert(row.get(1), row.get(2));
    }
    Ok(views)
}

/// The least and the most arguments of each function of a name.
pub(super) async fn arities(client: &Client, name: &str) -> Result<Vec<(i32, i32)>> {
    let (schema, name) = name.split_once('.').unwrap_or(("", name));
    let rows = client.query(FUNCTIONS, &[&schema, &name]).await.map_err(|error| failed(&error))?;
    Ok(rows.iter().map(|row| (row.get::<_, i32>(0), row.get(1))).collect())
}

/// The keys of `data` in a row; none where the view has no rows, or `data` is not an object.
pub(super) async fn keys(client: &Client, view: &str) -> Result<Option<Vec<String>>> {
    let text = format!(
        "SELECT ARRAY(SELECT jsonb_object_keys(data)) FROM (SELECT data::jsonb FROM {} LIMIT 1) AS row \
         WHERE jsonb_typeof(data) = 'object'",
        quote_path(view)
    );
    let row = client
        .query_opt(&text, &[])
        .await
        .map_err(|error| Failure::new(format!("{view} cannot be read: {}", reason(&error))))?;
    Ok(row.map(|row| row.get(0)))
}

/// Quotes `schema.name` part by part.
fn quote_path(path: &str) -> String {
    path.split('.').map(escape_identifier).collect::<Vec<_>>().join(".")
}

fn failed(error: &tokio_postgres::Error) -> Failure {
    Failure::new(format!("the database's catalogue cannot be read: {}", reason(error)))
}
