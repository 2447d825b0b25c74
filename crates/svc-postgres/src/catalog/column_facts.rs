//! Column metadata used only by diagnostics: nullability and enum labels.

use ahash::{HashMap, HashMapExt as _};

use crate::driver::{DedicatedConnection, DriverError};
use crate::statement::quoted;
use crate::{Oid, Param, Statement};

/// The columns that may be null, and the labels of enums, as far as they are certain.
#[derive(Debug, Default)]
pub struct ColumnFacts {
    /// The table column behind each column, by view and column name.
    nullable: HashMap<(String, String), (String, String)>,
    labels: HashMap<Oid, Vec<String>>,
}

/// The nullable columns of tables, and of views that return each row of a single table. If a view
/// joins, groups or filters rows, its columns need a closer analysis, which the CLI provides
/// (`svc check`).
///
/// In dollar quotes, backslashes are literal with either value of `standard_conforming_strings`.
///
/// The text of a view's query is a dump of PostgreSQL's parse nodes: a `TARGETENTRY` has the number
/// of the view's column, and the table and column number of its origin.
const NULLABLE: &str = "\
    WITH named AS (SELECT s.name, c.oid, c.relkind \
        FROM unnest($1::text[], $2::text[]) AS s(name, quoted) JOIN pg_class c ON c.oid = to_regclass(s.quoted)), \
    plain AS (SELECT n.name, n.oid, r.ev_action::text AS nodes FROM named n \
        JOIN pg_rewrite r ON r.ev_class = n.oid AND r.ev_type = '1' AND n.relkind = 'v'), \
    origin AS ( \
        SELECT name, oid AS of, attnum::int AS column, oid AS table, attnum::int AS number \
            FROM named JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped \
        WHERE relkind IN ('r', 'p') \
        UNION ALL SELECT p.name, p.oid, m[1]::int, m[2]::oid, m[3]::int FROM plain p, \
            regexp_matches(p.nodes, $$:resno (\\d+) :resname \\S+ :ressortgroupref \\d+ :resorigtbl (\\d+) \
                :resorigcol (\\d+) :resjunk false$$, 'g') AS m \
        WHERE p.nodes !~ $$\\{QUERY.*\\{QUERY$$ \
        AND p.nodes ~ $$:fromlist \\(\\{RANGETBLREF :rtindex \\d+\\}\\) :quals <>$$) \
    SELECT o.name, v.attname::text, c.relname::text, a.attname::text FROM origin o \
    JOIN pg_attribute v ON v.attrelid = o.of AND v.attnum = o.column \
    JOIN pg_class c ON c.oid = o.table AND c.relkind IN ('r', 'p') \
    JOIN pg_attribute a ON a.attrelid = o.table AND a.attnum = o.number AND NOT a.attnotnull \
    JOIN pg_type t ON t.oid = a.atttypid AND t.typtype <> 'd' \
    WHERE NOT EXISTS (SELECT FROM pg_constraint k \
        WHERE k.conrelid = o.table AND k.contype = 'c' AND a.attnum = ANY (k.conkey)) \
    AND a.attgenerated = ''";

/// The labels of the enums among the types of columns.
const LABELS: &str = "\
    SELECT e.enumtypid::int8, e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = ANY ($1::text[]::oid[]) \
    ORDER BY e.enumtypid, e.enumsortorder";

impl ColumnFacts {
    /// Reads the facts about the columns of `names`, whose types are `types`.
    pub(super) async fn load(
        connection: &mut DedicatedConnection,
        names: &[String],
        types: impl Iterator<Item = Oid>,
    ) -> Result<Self, DriverError> {
        let bound = [names.to_vec(), quoted(names)].map(Param::Texts).to_vec();
        let rows: Vec<(String, String, String, String)> =
            connection.rows(&Statement::new(NULLABLE, bound)).await?;
        let nullable = rows
            .into_iter()
            .map(|(source, name, table, column)| ((source, name), (table, column)));
        let types = Param::Texts(types.map(|oid| oid.to_string()).collect());
        let rows: Vec<(i64, String)> = connection
            .rows(&Statement::new(LABELS, vec![types]))
            .await?;
        let mut labels: HashMap<Oid, Vec<String>> = HashMap::new();
        for (ty, label) in rows {
            labels
                .entry(Oid::try_from(ty).unwrap_or_default())
                .or_default()
                .push(label);
        }

        Ok(Self {
            nullable: nullable.collect(),
            labels,
        })
    }

    /// The table and column behind a nullable column.
    pub fn nullable(&self, source: &str, column: &str) -> Option<(&str, &str)> {
        let (table, column) = self.nullable.get(&(source.to_owned(), column.to_owned()))?;
        Some((table, column))
    }

    /// The labels of an enum, in order.
    pub fn labels(&self, ty: Oid) -> Option<&[String]> {
        self.labels.get(&ty).map(Vec::as_slice)
    }
}
