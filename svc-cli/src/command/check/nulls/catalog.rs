//! The facts about the database that proofs rely on.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Client;

use super::functions::{self, Function};
use super::proofs;
use super::tree::{Node, Value};

/// Relations of users, each with its columns and the query of its view. A column may also contain
/// nulls if an inheriting table allows them, or does not enforce its constraints, as with foreign
/// tables.
const COLUMNS: &str = "\
    WITH RECURSIVE below AS ( \
        SELECT c.oid AS top, c.oid AS rel FROM pg_class c WHERE c.relkind IN ('r', 'p') \
        UNION SELECT b.top, i.inhrelid FROM below b JOIN pg_inherits i ON i.inhparent = b.rel \
    ), lax AS ( \
        SELECT b.top, a.attname, a.attrelid = b.top AS is_own FROM below b \
        JOIN pg_class c ON c.oid = b.rel JOIN pg_attribute a ON a.attrelid = b.rel \
        WHERE NOT a.attnotnull OR c.relkind = 'f' OR EXISTS ( \
            SELECT FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated \
            AND k.conkey = ARRAY[a.attnum]) \
    ) \
    SELECT c.oid, c.relname::text, c.relkind::text, c.relrowsecurity, \
        EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid), \
        a.attnum::int4, a.attname::text, \
        c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM lax l WHERE l.top = c.oid AND l.attname = a.attname), \
        EXISTS (SELECT FROM pg_type t WHERE t.oid = a.atttypid AND t.typnotnull) \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')";

const QUERIES: &str = "SELECT ev_class, ev_action::text FROM pg_rewrite WHERE rulename = '_RETURN'";

/// Check constraints that hold for all rows of a table.
const CHECKS: &str = "\
    SELECT conrelid, conbin::text FROM pg_constraint \
    WHERE contype = 'c' AND convalidated AND conrelid <> 0 AND NOT connoinherit";

const KEYS: &str = "\
    SELECT conrelid, confrelid, conkey::int4[], confkey::int4[], \
        ARRAY(SELECT unnest(conpfeqop) UNION SELECT o.oprcom FROM pg_operator o WHERE o.oid = ANY (conpfeqop))::oid[] \
    FROM pg_constraint WHERE contype = 'f' AND convalidated AND NOT condeferrable";

/// A table, a view or a similar relation.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) name: String,
    pub(super) kind: char,
    /// Whether policies may hide rows.
    pub(super) has_policies: bool,
    /// Whether other tables, including partitions, inherit from it.
    pub(super) has_children: bool,
    /// By number.
    pub(super) columns: HashMap<usize, Column>,
    /// The query of a view.
    pub(super) query: Option<Node>,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether a constraint rejects nulls.
    pub(super) is_filled: bool,
    /// Whether its type is a domain that rejects null; the null of an outer join passes such a
    /// domain.
    pub(super) is_guarded: bool,
}

impl Relation {
    pub(super) fn is_table(&self) -> bool {
        matches!(self.kind, 'r' | 'p')
    }
}

/// A foreign key that is enforced at all times.
#[derive(Debug)]
pub(super) struct ForeignKey {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Each column with its referenced column.
    pub(super) columns: HashSet<(usize, usize)>,
    /// The operators that compare them.
    pub(super) operators: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) relations: HashMap<u32, Relation>,
    pub(super) keys: Vec<ForeignKey>,
    pub(super) functions: HashMap<u32, Function>,
}

/// Reads all facts.
pub(super) async fn read(client: &Client) -> Result<Catalog, tokio_postgres::Error> {
    let mut catalog = Catalog {
        relations: relations(client).await?,
        keys: Vec::new(),
        functions: functions::read(client).await?,
    };

    for row in client.query(QUERIES, &[]).await? {
        let Some(relation) = catalog.relations.get_mut(&row.get::<_, u32>(0)) else {
            continue;
        };

        // The rule of a view is a list with one query.
        let tree = Value::parse(row.get(1));
        relation.query = tree.and_then(|tree| tree.nodes().first().map(|query| (*query).clone()));
    }

    for row in client.query(CHECKS, &[]).await? {
        let Some(tree) = Value::parse(row.get(1)) else {
            continue;
        };

        let columns = tree.node().map(proofs::checked).unwrap_or_default();
        let Some(relation) = catalog.relations.get_mut(&row.get::<_, u32>(0)) else {
            continue;
        };

        for column in columns {
            if let Some(column) = relation.columns.get_mut(&column) {
                column.is_filled = true;
            }
        }
    }

    for row in client.query(KEYS, &[]).await? {
        let (from, to): (Vec<i32>, Vec<i32>) = (row.get(2), row.get(3));
        let pairs = from.into_iter().zip(to);
        let columns = pairs.filter_map(|(from, to)| {
            Some((usize::try_from(from).ok()?, usize::try_from(to).ok()?))
        });
        let columns = columns.collect();

        catalog.keys.push(ForeignKey {
            from: row.get(0),
            to: row.get(1),
            columns,
            operators: row.get(4),
        });
    }

    Ok(catalog)
}

async fn relations(client: &Client) -> Result<HashMap<u32, Relation>, tokio_postgres::Error> {
    let mut relations: HashMap<u32, Relation> = HashMap::new();
    for row in client.query(COLUMNS, &[]).await? {
        let relation = relations.entry(row.get(0)).or_insert_with(|| Relation {
            name: row.get(1),
            kind: row.get::<_, String>(2).chars().next().unwrap_or(' '),
            has_policies: row.get(3),
            has_children: row.get(4),
            columns: HashMap::new(),
            query: None,
        });

        if let Ok(number) = usize::try_from(row.get::<_, i32>(5)) {
            relation.columns.insert(
                number,
                Column {
                    name: row.get(6),
                    is_filled: row.get(7),
                    is_guarded: row.get(8),
                },
            );
        }
    }

    Ok(relations)
}
