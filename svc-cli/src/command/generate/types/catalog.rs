//! Tables and views in the database's catalog.

use std::collections::{BTreeMap, HashSet};

use tokio_postgres::{Client, Row};

use super::origin;
use crate::database::reason;
use crate::failure::{Failure, Result};

/// The origin of a value: the table and the number of its column.
pub(super) type Place = (u32, i16);

/// Tables and views, with the enums and foreign keys that they use.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) sources: Vec<Source>,
    /// The values of each enum, by the name of its type.
    pub(super) enums: BTreeMap<String, Vec<String>>,
    /// The foreign keys.
    pub(super) keys: Vec<Key>,
    /// The reasons for omitting some of them.
    pub(super) left_out: Vec<String>,
}

/// A table or a view.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) is_view: bool,
    pub(super) comment: Option<String>,
    pub(super) columns: Vec<Column>,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// The name of its type without `[]`; for a domain, of its base type.
    pub(super) ty: String,
    /// The kind of that type: `b`ase, `c`omposite, `e`num, `r`ange and others.
    pub(super) kind: String,
    pub(super) is_array: bool,
    pub(super) is_required: bool,
    pub(super) is_primary: bool,
    /// The table column that provides its values.
    pub(super) origin: Option<Place>,
    pub(super) comment: Option<String>,
}

/// A foreign key.
#[derive(Debug)]
pub(super) struct Key {
    /// Its columns, each with the column that it references.
    pub(super) pairs: Vec<Pair>,
    /// Whether its values are unique.
    pub(super) is_unique: bool,
    /// Whether the key is validated, so that rows from before the key also satisfy it.
    pub(super) is_valid: bool,
}

/// A column of a foreign key, and the column that it references.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) from: Place,
    pub(super) to: Place,
    /// Whether both have the same name, as the tenant columns of both rows do.
    pub(super) is_shared: bool,
}

/// Tables and views that do not belong to others, to extensions or to svc itself.
const SOURCES: &str = "\
    SELECT c.oid, n.nspname::text, c.relname::text, c.relkind IN ('v', 'm'), obj_description(c.oid, 'pg_class'), \
        has_table_privilege(c.oid, 'SELECT') \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
        AND NOT EXISTS (SELECT FROM pg_depend d \
            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') AND ";

const COLUMNS: &str = "\
    SELECT a.attnum, a.attname::text, t.typname::text, t.typtype::text, b.typelem <> 0 AND b.typcategory = 'A', \
        a.attnotnull OR at.typnotnull, \
        EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND i.indnkeyatts = 1 \
            AND i.indkey[0] = a.attnum), \
        col_description(a.attrelid, a.attnum) \
    FROM pg_attribute a JOIN pg_type at ON at.oid = a.atttypid \
    JOIN LATERAL (WITH RECURSIVE below AS ( \
        SELECT at.oid, at.typtype, at.typbasetype UNION ALL \
        SELECT t.oid, t.typtype, t.typbasetype FROM below JOIN pg_type t ON t.oid = below.typbasetype \
        WHERE below.typtype = 'd') SELECT oid FROM below WHERE typtype <> 'd') base ON true \
    JOIN pg_type b ON b.oid = base.oid \
    JOIN LATERAL (WITH RECURSIVE below AS ( \
        SELECT e.oid, e.typtype, e.typbasetype FROM pg_type e \
        WHERE e.oid = CASE WHEN b.typcategory = 'A' AND b.typelem <> 0 THEN b.typelem ELSE b.oid END UNION ALL \
        SELECT t.oid, t.typtype, t.typbasetype FROM below JOIN pg_type t ON t.oid = below.typbasetype \
        WHERE below.typtype = 'd') SELECT oid FROM below WHERE typtype <> 'd') element ON true \
    JOIN pg_type t ON t.oid = element.oid \
    WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

const KEYS: &str = "\
    SELECT c.conrelid, c.conkey, c.confrelid, c.confkey, c.convalidated, \
        EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indisunique AND i.indpred IS NULL \
            AND (string_to_array(i.indkey::text, ' ')::int2[])[1:i.indnkeyatts] <@ c.conkey), \
        ARRAY(SELECT a.attname = b.attname FROM unnest(c.conkey, c.confkey) WITH ORDINALITY k (here, there, at) \
            JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.here \
            JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = k.there ORDER BY k.at) \
    FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 ORDER BY c.conname";

const ENUMS: &str = "\
    SELECT t.typname::text, array_agg(e.enumlabel::text ORDER BY e.enumsortorder) \
    FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid GROUP BY t.oid, t.typname";

/// All tables and views of a schema. If a table has a view over it, only the view.
pub(super) async fn all(client: &Client, schema: &str) -> Result<Catalog> {
    let text = format!("{SOURCES} n.nspname = $1 ORDER BY c.relname");
    let rows = client
        .query(&text, &[&schema])
        .await
        .map_err(|error| failed(&error))?;
    let names: HashSet<String> = rows.iter().map(|row| row.get(2)).collect();

    // The view is the public form of its table, which may have columns that are not for clients.
    let has_view = |name: &str| {
        let plain = name.strip_prefix("tb_");
        plain.is_some_and(|plain| {
            names.contains(&format!("v_{plain}")) || names.contains(&format!("tv_{plain}"))
        })
    };

    read(client, rows.iter().filter(|row| !has_view(row.get(2)))).await
}

/// The tables and views with these names.
pub(super) async fn named(client: &Client, names: &[String]) -> Result<Catalog> {
    // `to_regclass` parses its argument like SQL, and folds unquoted names to lower case.
    let quoted: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let text = format!("{SOURCES} c.oid = to_regclass($1)");
    let mut rows = Vec::new();

    for (name, quoted) in names.iter().zip(&quoted) {
        let found = client
            .query_opt(&text, &[quoted])
            .await
            .map_err(|error| failed(&error))?;
        rows.push(found.ok_or_else(|| {
            Failure::new(format!("the database has no table or view `{name}`")).hint(
                "include its schema if it is not `public`: app.v_post; `svc db psql -c '\\dtv'` lists them",
            )
        })?);
    }

    read(client, rows.iter()).await
}

async fn read(client: &Client, rows: impl Iterator<Item = &Row>) -> Result<Catalog> {
    let mut catalog = Catalog::default();
    for row in rows {
        let (schema, name): (String, String) = (row.get(1), row.get(2));
        let refuse = |why: &str| format!("{schema}.{name} is omitted: {why}");
        if !row.get::<_, bool>(5) {
            catalog.left_out.push(refuse("the user may not read it"));
            continue;
        }

        if !is_source(&schema) || !is_source(&name) {
            catalog
                .left_out
                .push(refuse("its name has characters other than letters, digits, `_` and `$`; create a view of it"));
            continue;
        }

        let (oid, is_view) = (row.get(0), row.get(3));
        let mut columns = columns(client, oid).await?;
        if is_view {
            origin::find(client, oid, &mut columns).await?;
        }

        if columns.is_empty() {
            catalog.left_out.push(refuse("it has no columns"));
            continue;
        }

        catalog.sources.push(Source {
            schema,
            name,
            is_view,
            comment: row.get(4),
            columns,
        });
    }

    let rows = client
        .query(KEYS, &[])
        .await
        .map_err(|error| failed(&error))?;
    catalog.keys = rows.iter().map(key).collect();
    let rows = client
        .query(ENUMS, &[])
        .await
        .map_err(|error| failed(&error))?;
    catalog.enums = rows.iter().map(|row| (row.get(0), row.get(1))).collect();

    Ok(catalog)
}

fn key(row: &Row) -> Key {
    let (from, to): (u32, u32) = (row.get(0), row.get(2));
    let (columns, keys): (Vec<i16>, Vec<i16>) = (row.get(1), row.get(3));
    let shared: Vec<bool> = row.get(6);
    let pairs = columns.into_iter().zip(keys).zip(shared);
    let pairs = pairs.map(|((column, key), is_shared)| Pair {
        from: (from, column),
        to: (to, key),
        is_shared,
    });

    Key {
        pairs: pairs.collect(),
        is_valid: row.get(4),
        is_unique: row.get(5),
    }
}

/// Whether a name is valid for `sql_source`.
fn is_source(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// The columns of a table or a view.
pub(super) async fn columns(client: &Client, oid: u32) -> Result<Vec<Column>> {
    let rows = client
        .query(COLUMNS, &[&oid])
        .await
        .map_err(|error| failed(&error))?;
    let column = |row: &Row| Column {
        name: row.get(1),
        ty: row.get(2),
        kind: row.get(3),
        is_array: row.get(4),
        is_required: row.get(5),
        is_primary: row.get(6),
        origin: Some((oid, row.get(0))),
        comment: row.get(7),
    };

    Ok(rows.iter().map(column).collect())
}

/// Quotes `schema.name` part by part.
fn quoted(path: &str) -> String {
    path.split('.')
        .map(|part| format!("\"{}\"", part.replace('"', "\"\"")))
        .collect::<Vec<_>>()
        .join(".")
}

pub(super) fn failed(error: &tokio_postgres::Error) -> Failure {
    Failure::new(format!(
        "the database's catalog cannot be read: {}",
        reason(error)
    ))
}
