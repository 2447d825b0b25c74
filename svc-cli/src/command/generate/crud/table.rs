//! The table that mutations write, as defined in the database.

use tokio_postgres::Client;

use crate::database::reason;
use crate::failure::{Failure, Result};

/// A table.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) constraints: Vec<Constraint>,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// The name of its type; for a domain, of its base type.
    pub(super) ty: String,
    pub(super) is_required: bool,
    pub(super) has_default: bool,
    /// Whether only the database sets its values.
    pub(super) is_generated: bool,
    /// Whether it is the whole primary key.
    pub(super) is_primary: bool,
}

/// A constraint or a unique index.
#[derive(Debug)]
pub(super) struct Constraint {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) columns: Vec<String>,
}

/// The kind of a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No two rows have the same values.
    Unique,
    /// The values reference another row.
    Reference,
    /// A condition on the row.
    Check,
    /// No two rows overlap.
    Exclusion,
}

impl Table {
    /// The column with a name.
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

const COLUMNS: &str = "\
    SELECT a.attname::text, t.typname::text, a.attnotnull OR at.typnotnull, \
        a.atthasdef OR a.attidentity <> '' OR at.typdefault IS NOT NULL, a.attgenerated <> '' OR a.attidentity = 'a', \
        EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND i.indnkeyatts = 1 \
            AND i.indkey[0] = a.attnum) \
    FROM pg_attribute a JOIN pg_type at ON at.oid = a.atttypid \
    JOIN LATERAL (WITH RECURSIVE below AS ( \
        SELECT at.oid, at.typtype, at.typbasetype UNION ALL \
        SELECT t.oid, t.typtype, t.typbasetype FROM below JOIN pg_type t ON t.oid = below.typbasetype \
        WHERE below.typtype = 'd') SELECT oid FROM below WHERE typtype <> 'd') base ON true \
    JOIN pg_type t ON t.oid = base.oid \
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

const CONSTRAINTS: &str = "\
    SELECT c.conname::text, c.contype::text, ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k (n, at) \
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n ORDER BY k.at) \
    FROM pg_constraint c WHERE c.conrelid = to_regclass($1) AND c.contype IN ('f', 'c', 'x') \
    UNION ALL \
    SELECT n.relname::text, 'u', ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY k (n, at) \
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n WHERE k.at <= i.indnkeyatts ORDER BY k.at) \
    FROM pg_index i JOIN pg_class n ON n.oid = i.indexrelid \
    WHERE i.indrelid = to_regclass($1) AND i.indisunique \
    ORDER BY 1";

/// Reads a table; none if the database has no such table.
pub(super) async fn read(client: &Client, table: &str) -> Result<Option<Table>> {
    let failed = |error: tokio_postgres::Error| {
        Failure::new(format!(
            "the database's catalog cannot be read: {}",
            reason(&error)
        ))
    };

    let rows = client.query(COLUMNS, &[&table]).await.map_err(failed)?;
    if rows.is_empty() {
        return Ok(None);
    }

    let columns = rows.iter().map(|row| Column {
        name: row.get(0),
        ty: row.get(1),
        is_required: row.get(2),
        has_default: row.get(3),
        is_generated: row.get(4),
        is_primary: row.get(5),
    });

    let columns = columns.collect();

    // With unique indexes in place of unique constraints: each of the latter has an index of its
    // name, and an index alone rejects rows too.
    let rows = client.query(CONSTRAINTS, &[&table]).await.map_err(failed)?;
    let constraints = rows.iter().map(|row| Constraint {
        name: row.get(0),
        kind: match row.get::<_, &str>(1) {
            "u" => Kind::Unique,
            "f" => Kind::Reference,
            "x" => Kind::Exclusion,
            _ => Kind::Check,
        },
        columns: row.get(2),
    });

    Ok(Some(Table {
        columns,
        constraints: constraints.collect(),
    }))
}
