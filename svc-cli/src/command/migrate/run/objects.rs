//! The objects created by files of `db/schema`: views, functions, policies and triggers.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Client;

use super::super::failed;
use crate::failure::Result;

/// The objects that can be dropped and recreated without losing a row. Types of arguments are
/// qualified with their schema, as a file may have set a search path.
const OBJECTS: &str = "\
    WITH schemas AS ( \
        SELECT oid, nspname FROM pg_namespace \
        WHERE nspname NOT IN ('information_schema', 'svc_history') AND nspname !~ '^pg_') \
    SELECT CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, format('%I.%I', s.nspname, c.relname), \
        c.relname::text, 'pg_class'::regclass::oid, c.oid, r.xmin::text \
    FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace JOIN pg_rewrite r ON r.ev_class = c.oid \
    WHERE c.relkind IN ('v', 'm') AND r.rulename = '_RETURN' \
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') \
    UNION ALL \
    SELECT 'ROUTINE', format('%I.%I(%s)', s.nspname, p.proname, ( \
            SELECT string_agg(format('%I.%I', n.nspname, t.typname), ', ' ORDER BY a.position) \
            FROM unnest(p.proargtypes) WITH ORDINALITY AS a (oid, position) \
            JOIN pg_type t ON t.oid = a.oid JOIN pg_namespace n ON n.oid = t.typnamespace)), \
        p.proname::text, 'pg_proc'::regclass::oid, p.oid, ( \
            SELECT string_agg(d.xmin::text, ' ') FROM pg_depend d \
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid) \
    FROM pg_proc p JOIN schemas s ON s.oid = p.pronamespace \
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') \
    UNION ALL \
    SELECT 'POLICY', format('%I ON %I.%I', o.polname, s.nspname, c.relname), o.polname::text, \
        'pg_policy'::regclass::oid, o.oid, o.xmin::text \
    FROM pg_policy o JOIN pg_class c ON c.oid = o.polrelid JOIN schemas s ON s.oid = c.relnamespace \
    UNION ALL \
    SELECT 'TRIGGER', format('%I ON %I.%I', t.tgname, s.nspname, c.relname), t.tgname::text, \
        'pg_trigger'::regclass::oid, t.oid, t.xmin::text \
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN schemas s ON s.oid = c.relnamespace \
    WHERE NOT t.tgisinternal AND t.tgparentid = 0";

/// The columns, signatures and options that other objects may depend on.
const INTERFACES: &str = "\
    WITH schemas AS ( \
        SELECT oid, nspname FROM pg_namespace \
        WHERE nspname NOT IN ('information_schema', 'svc_history') AND nspname !~ '^pg_') \
    SELECT 'r ' || s.nspname || '.' || c.relname, c.relname::text, c.relkind::text || coalesce(c.reloptions::text, '') \
        || coalesce((SELECT string_agg(format('%s %s %s', a.attname, a.atttypid, a.atttypmod), ',' ORDER BY a.attnum) \
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '') \
    FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') \
    UNION ALL \
    SELECT 'f ' || s.nspname || '.' || p.proname || ' ' || p.proargtypes::text, p.proname::text, \
        p.prorettype::text || p.proretset || coalesce(p.proargnames::text, '') || coalesce(p.proallargtypes::text, '') \
    FROM pg_proc p JOIN schemas s ON s.oid = p.pronamespace \
    UNION ALL \
    SELECT 't ' || s.nspname || '.' || t.typname, t.typname::text, t.oid::text \
    FROM pg_type t JOIN schemas s ON s.oid = t.typnamespace WHERE t.typtype IN ('e', 'd')";

/// The kind of an object and its name, in the syntax of `DROP`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::command::migrate) struct Id {
    pub(in crate::command::migrate) kind: String,
    pub(in crate::command::migrate) identity: String,
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {}",
            self.kind.to_lowercase(),
            self.identity.replace("pg_catalog.", "")
        )
    }
}

/// An existing object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    /// The name without its schema.
    pub(super) name: String,
    pub(super) class: u32,
    pub(super) oid: u32,
    /// The transactions that created the object; grants do not change them.
    stamp: Option<String>,
}

/// The objects of a database.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects(pub(super) BTreeMap<Id, Object>);

impl Objects {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        Self::read_raw(client).await.map_err(|error| failed(&error))
    }

    /// The same with the driver's error.
    pub(super) async fn read_raw(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let rows = client.query(OBJECTS, &[]).await?;
        let object = |row: tokio_postgres::Row| {
            let id = Id {
                kind: row.get(0),
                identity: row.get::<_, Option<String>>(1).unwrap_or_default(),
            };

            (
                id,
                Object {
                    name: row.get(2),
                    class: row.get(3),
                    oid: row.get(4),
                    stamp: row.get(5),
                },
            )
        };

        Ok(Self(rows.into_iter().map(object).collect()))
    }

    /// The objects created or recreated since.
    pub(super) fn touched_since(&self, before: &Self) -> BTreeSet<Id> {
        // A recreated object has another number, and a replaced one has other rows in `pg_rewrite`
        // or `pg_depend`; the rows of `pg_class` and `pg_proc` would also change with a GRANT.
        let touched = self
            .0
            .iter()
            .filter(|(id, object)| before.0.get(*id) != Some(*object));
        touched.map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn has(&self, id: &Id) -> bool {
        self.0.contains_key(id)
    }
}

/// The interface of each relation and function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Interfaces(BTreeMap<String, (String, String)>);

/// The changed interfaces.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Names without their schemas.
    pub(super) names: BTreeSet<String>,
    /// Whether there are new ones, which existing grants on all objects of a schema do not cover.
    pub(super) has_new: bool,
}

impl Interfaces {
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let rows = client
            .query(INTERFACES, &[])
            .await
            .map_err(|error| failed(&error))?;
        Ok(Self(
            rows.into_iter()
                .map(|row| (row.get(0), (row.get(1), row.get(2))))
                .collect(),
        ))
    }

    pub(super) fn changed_since(&self, before: &Self) -> Changed {
        let mut changed = Changed::default();
        for (key, (name, _)) in self
            .0
            .iter()
            .filter(|(key, value)| before.0.get(*key) != Some(*value))
        {
            changed.names.insert(name.clone());
            changed.has_new |= !before.0.contains_key(key);
        }

        let gone = before
            .0
            .iter()
            .filter(|(key, _)| !self.0.contains_key(*key));
        changed
            .names
            .extend(gone.map(|(_, (name, _))| name.clone()));

        changed
    }
}
