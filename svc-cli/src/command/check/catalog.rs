//! Reads the catalog of the database.

use std::collections::BTreeMap;

use postgres_protocol::escape::escape_identifier;
use tokio_postgres::{Client, Row};

use super::nulls::Facts;
use super::snapshot::{Column, Function, Given, Keys, Parameter, Relation, Snapshot};
use crate::database::reason;
use crate::failure::{Failure, Result};
use crate::program::Description;

/// Columns of the users' own relations, and of other relations that the program names. A domain is
/// replaced by its base type, which rows are read as.
const COLUMNS: &str = "\
    SELECT n.nspname || '.' || c.relname, c.oid, a.attnum::int4, a.attname::text, \
    (WITH RECURSIVE below AS ( \
        SELECT oid, typname, typtype, typbasetype FROM pg_type WHERE oid = a.atttypid \
        UNION ALL SELECT t.oid, t.typname, t.typtype, t.typbasetype FROM below JOIN pg_type t ON t.oid = below.typbasetype \
        WHERE below.typtype = 'd' \
    ) SELECT typname::text FROM below WHERE typtype <> 'd') \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ( \
        n.nspname !~ '^(pg_|information_schema$|svc_history$)' AND NOT EXISTS ( \
            SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') \
        OR n.nspname || '.' || c.relname = ANY ($1) OR c.relname = ANY ($1) AND pg_table_is_visible(c.oid))";

/// Tables, each with its unique indexes that consist of columns only, cover all rows, and are
/// checked immediately on each write.
const UNIQUE: &str = "\
    SELECT n.nspname || '.' || c.relname, ARRAY(SELECT a.attname::text FROM pg_attribute a \
        WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) ORDER BY 1) \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid \
        AND i.indpred IS NULL AND i.indexprs IS NULL \
    WHERE c.relkind IN ('r', 'p') ORDER BY i.indexrelid";

const FUNCTIONS: &str = "\
    SELECT n.nspname || '.' || p.proname, p.prokind::text, p.pronargdefaults::int4, format_type(p.prorettype, -1), \
        ARRAY(SELECT format_type(a.oid, -1) FROM unnest(p.proargtypes) WITH ORDINALITY AS a(oid, i) ORDER BY a.i), \
        ARRAY(SELECT coalesce(base.typname, t.typname)::text FROM unnest(p.proargtypes) WITH ORDINALITY AS a(oid, i) \
            JOIN pg_type t ON t.oid = a.oid \
            LEFT JOIN pg_type base ON base.oid = t.typbasetype AND t.typtype = 'd' ORDER BY a.i), \
        p.proretset, p.provolatile = 'v' \
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
    WHERE p.prokind IN ('f', 'p') AND p.prorettype <> 'trigger'::regtype AND ( \
        n.nspname !~ '^(pg_|information_schema$)' AND NOT EXISTS ( \
            SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') \
        OR n.nspname || '.' || p.proname = ANY ($1) OR p.proname = ANY ($1) AND pg_function_is_visible(p.oid)) \
    ORDER BY 1, 5";

/// Reads the parts of the catalog that the check needs.
pub(super) async fn read(client: &Client, description: &Description) -> Result<Snapshot> {
    let failed = |error: tokio_postgres::Error| {
        Failure::new(format!(
            "the database's catalog cannot be read: {}",
            reason(&error)
        ))
    };

    let facts = Facts::read(client).await.map_err(failed)?;
    let sources: Vec<&str> = description.sources().collect();
    let path = client
        .query_one("SELECT current_schemas(true)::text[]", &[])
        .await
        .map_err(failed)?;
    let mut relations: BTreeMap<String, Relation> = BTreeMap::new();
    for row in client.query(COLUMNS, &[&sources]).await.map_err(failed)? {
        add_column(&mut relations, &row, &facts);
    }

    for row in client.query(UNIQUE, &[]).await.map_err(failed)? {
        add_index(&mut relations, &row);
    }

    let called: Vec<&str> = description
        .functions
        .iter()
        .map(|function| function.name.as_str())
        .collect();

    let mut functions: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    for row in client.query(FUNCTIONS, &[&called]).await.map_err(failed)? {
        functions
            .entry(row.get(0))
            .or_default()
            .push(function(&row));
    }

    let mut snapshot = Snapshot::new(path.get(0), relations, functions);
    for source in sources {
        look_at_row(client, &mut snapshot, source).await?;
    }

    for statement in &description.statements {
        snapshot
            .statements
            .insert(statement.sql.clone(), given(client, &statement.sql).await);
    }

    Ok(snapshot)
}

fn add_column(relations: &mut BTreeMap<String, Relation>, row: &Row, facts: &Facts) {
    let relation = relations.entry(row.get(0)).or_default();
    let (oid, name, ty): (u32, String, String) = (row.get(1), row.get(3), row.get(4));
    let Ok(number) = usize::try_from(row.get::<_, i32>(2)) else {
        return;
    };
    if name == "data" && (ty == "json" || ty == "jsonb") {
        relation.keys = facts.keys(oid, number).map(Keys::Defined);
    }

    relation.columns.insert(
        name,
        Column {
            ty,
            nulls: facts.column(oid, number),
        },
    );
}

fn add_index(relations: &mut BTreeMap<String, Relation>, row: &Row) {
    let Some(relation) = relations.get_mut(&row.get::<_, String>(0)) else {
        return;
    };
    relation.is_table = true;
    let columns: Vec<String> = row.get(1);
    if !columns.is_empty() {
        relation.unique.push(columns);
    }
}

fn function(row: &Row) -> Function {
    let (types, bases): (Vec<String>, Vec<String>) = (row.get(4), row.get(5));
    Function {
        kind: row.get(1),
        parameters: types
            .into_iter()
            .zip(bases)
            .map(|(ty, base)| Parameter { ty, base })
            .collect(),
        defaults: usize::try_from(row.get::<_, i32>(2)).unwrap_or(0),
        returns: row.get(3),
        gives_set: row.get(6),
        is_volatile: row.get(7),
    }
}

/// The columns of a statement's result, which PostgreSQL determines without running it.
async fn given(client: &Client, sql: &str) -> Given {
    match client
        // A comment at the end of the SQL would hide the parenthesis on the same line.
        .prepare(&format!("SELECT t.* FROM (\n{sql}\n) AS t"))
        .await
    {
        Ok(statement) => {
            let columns = statement.columns().iter();
            Given::Columns(
                columns
                    .map(|column| (column.name().to_owned(), column.type_().name().to_owned()))
                    .collect(),
            )
        }
        Err(error) => Given::Refused(reason(&error)),
    }
}

/// Reads the keys of `data` from a row, unless the view's definition determines them.
async fn look_at_row(client: &Client, snapshot: &mut Snapshot, source: &str) -> Result<()> {
    if snapshot
        .relation(source)
        .is_none_or(|relation| !relation.has_data() || relation.keys.is_some())
    {
        return Ok(());
    }

    // Only a row reveals the keys of a document that a function or a table's column provides.
    let text = format!(
        "SELECT ARRAY(SELECT jsonb_object_keys(data) ORDER BY 1) FROM (SELECT data::jsonb FROM {} LIMIT 1) AS row \
         WHERE jsonb_typeof(data) = 'object'",
        quote_path(source)
    );

    let row = client
        .query_opt(&text, &[])
        .await
        .map_err(|error| Failure::new(format!("{source} cannot be read: {}", reason(&error))))?;
    snapshot.see(source, row.map(|row| row.get(0)));

    Ok(())
}

/// Quotes `schema.name` part by part.
fn quote_path(path: &str) -> String {
    path.split('.')
        .map(escape_identifier)
        .collect::<Vec<_>>()
        .join(".")
}
