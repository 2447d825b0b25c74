//! The columns of the views and tables named by the schema. They are read when the database is
//! first reached, and again after changes.

pub(super) mod channels;
mod column_facts;
mod computed_column;
mod fingerprint;
pub(super) mod functions;
mod query_tree;
mod reliable_columns;
mod rows_call;
mod source;

pub use column_facts::ColumnFacts;
pub(super) use fingerprint::{Fingerprints, fingerprints};
pub use rows_call::RowsCall;
pub use source::{ColumnType, Source};

use std::sync::{Arc, Mutex, PoisonError};

use ahash::{HashMap, HashMapExt as _, HashSet};
use tokio::sync::Notify;

use functions::Functions;
use reliable_columns::reliable_columns;

use super::driver::{DedicatedConnection, DriverError};
use super::statement::{quote, quote_path, quoted};
use super::{DbError, Oid, Param, Statement};

/// The views, tables and columns of the database.
#[derive(Debug, Default)]
pub struct Catalog {
    sources: HashMap<String, Source>,
    /// The initial settings of the role's sessions, such as its search path.
    settings: Vec<String>,
    /// The views and tables that cannot be read yet, each with the materialized view that must be
    /// refreshed first.
    unpopulated: Vec<(String, String)>,
    /// The facts used only by hints; `None` if hints are disabled.
    facts: Option<ColumnFacts>,
    /// The channels that nothing in the database notifies; empty if hints are disabled.
    pub(super) silent_channels: Vec<String>,
    /// The views whose rows PostgreSQL cannot lock.
    unlockable: Mutex<HashSet<String>>,
    /// Notified when a missing view is requested: it may have been created since.
    outdated: Arc<Notify>,
    /// The row functions of these views, or why each cannot be called.
    pub(super) row_functions: Functions,
}

const COLUMNS: &str = "\
    SELECT s.name, a.attname::text, base.typname::text, format_type(a.atttypid, NULL), \
    (SELECT relkind IN ('r', 'p', 'm') FROM pg_class WHERE oid = a.attrelid), \
    base.oid = ANY ('{int2,int4,int8,uuid,text,varchar,date,timestamp,timestamptz,bytea}'::regtype[]) \
    AND coalesce((SELECT collisdeterministic FROM pg_collation WHERE oid = a.attcollation), true), \
    a.atttypid::int8, base.oid::int8, a.attrelid::int8, \
    has_column_privilege(a.attrelid, a.attnum, 'SELECT'), \
    coalesce((SELECT collisdeterministic FROM pg_collation WHERE oid = a.attcollation), true), \
    a.attgenerated <> '' OR a.attidentity = 'a', \
    (SELECT format_type(item.oid, NULL) || '[]' FROM pg_type item \
        WHERE base.typcategory = 'A' AND (base.oid <> a.atttypid OR base.typelem <> item.oid) AND item.oid = ( \
            WITH RECURSIVE below AS ( \
                SELECT oid, typtype, typbasetype FROM pg_type WHERE oid = base.typelem \
                UNION ALL SELECT t.oid, t.typtype, t.typbasetype FROM below \
                JOIN pg_type t ON t.oid = below.typbasetype WHERE below.typtype = 'd' \
            ) SELECT oid FROM below WHERE typtype <> 'd')) \
    FROM unnest($1::text[], $2::text[]) AS s(name, quoted) \
    JOIN pg_attribute a ON a.attrelid = to_regclass(s.quoted) AND a.attnum > 0 AND NOT a.attisdropped \
    JOIN pg_type base ON base.oid = ( \
        WITH RECURSIVE below AS ( \
            SELECT oid, typtype, typbasetype FROM pg_type WHERE oid = a.atttypid \
            UNION ALL SELECT t.oid, t.typtype, t.typbasetype FROM below \
            JOIN pg_type t ON t.oid = below.typbasetype WHERE below.typtype = 'd' \
        ) SELECT oid FROM below WHERE typtype <> 'd') \
    ORDER BY s.name, a.attnum";

/// Unique indexes on plain columns, over all rows, that are checked immediately on each write.
const UNIQUE: &str = "\
    SELECT s.name, ARRAY(SELECT a.attname::text FROM pg_attribute a \
        WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])) \
    FROM unnest($1::text[], $2::text[]) AS s(name, quoted) \
    JOIN pg_index i ON i.indrelid = to_regclass(s.quoted) \
    WHERE i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL \
    ORDER BY i.indexrelid";

/// The materialized views that have no rows yet, each with the source that reads it: itself, or a
/// view above it. A view also depends on a materialized view that only gives the type of a
/// function's rows.
const UNPOPULATED: &str = "\
    WITH RECURSIVE below (name, rel) AS ( \
        SELECT s.name, to_regclass(s.quoted)::oid FROM unnest($1::text[], $2::text[]) AS s(name, quoted) \
      UNION \
        SELECT b.name, used.oid FROM below b \
        JOIN pg_class c ON c.oid = b.rel AND c.relkind = 'v' \
        JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1' \
        CROSS JOIN LATERAL ( \
            SELECT DISTINCT d.refobjid FROM pg_depend d \
            WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass \
        ) AS d \
        JOIN pg_class used ON used.oid = d.refobjid AND used.oid <> c.oid AND used.relkind IN ('v', 'm') \
        WHERE strpos(w.ev_action::text, ':relid ' || used.oid || ' ') > 0 \
    ) SELECT b.name, b.rel::regclass::text FROM below b \
    JOIN pg_class c ON c.oid = b.rel AND NOT c.relispopulated ORDER BY 1, 2";

/// The defaults of columns, which PostgreSQL computes for columns omitted from a statement.
const DEFAULTS: &str = "\
    SELECT s.name, a.attname::text, pg_get_expr(d.adbin, d.adrelid) \
    FROM unnest($1::text[], $2::text[]) AS s(name, quoted) \
    JOIN pg_attribute a ON a.attrelid = to_regclass(s.quoted) AND a.atthasdef AND a.attgenerated = '' \
    JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum";

const SETTINGS: &str = "\
    SELECT s.setdatabase::text || s.setrole::text || s.setconfig::text FROM pg_db_role_setting s \
    WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) \
    AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user)) \
    UNION ALL SELECT 'read only' WHERE current_setting('transaction_read_only') = 'on' \
    UNION ALL SELECT 'encoding ' || current_setting('server_encoding') \
        WHERE current_setting('server_encoding') <> 'UTF8' \
    UNION ALL SELECT 'checks input' WHERE to_regproc('pg_catalog.pg_input_is_valid') IS NOT NULL ORDER BY 1";

/// An entry in the catalog's settings for a read-only database.
const READ_ONLY: &str = "read only";

/// An entry in the catalog's settings for a server that can check a text for any type: PostgreSQL
/// 16 and later.
const CHECKS_INPUT: &str = "checks input";

/// The start of an entry in the catalog's settings with the character set of a database that does
/// not have UTF-8.
const ENCODING: &str = "encoding ";

type Row = (
    String,
    String,
    String,
    String,
    bool,
    bool,
    i64,
    i64,
    i64,
    bool,
    bool,
    bool,
    Option<String>,
);

impl Catalog {
    /// Reads the columns of the views and tables with these names, if they exist. `outdated` is
    /// notified when a missing one is requested. `with_facts` also reads the facts used only by
    /// hints. Unless the application `hides_rows`, every column counts as one that may fail.
    pub async fn load(
        connection: &mut DedicatedConnection,
        names: &[String],
        outdated: &Arc<Notify>,
        with_facts: bool,
        hides_rows: bool,
    ) -> Result<Self, DriverError> {
        let bound = [names.to_vec(), quoted(names)].map(Param::Texts).to_vec();
        let rows: Vec<Row> = connection
            .rows(&Statement::new(COLUMNS, bound.clone()))
            .await?;
        let unique: Vec<(String, Vec<String>)> = connection
            .rows(&Statement::new(UNIQUE, bound.clone()))
            .await?;
        let defaults: Vec<(String, String, String)> = connection
            .rows(&Statement::new(DEFAULTS, bound.clone()))
            .await?;
        let unpopulated = connection.rows(&Statement::new(UNPOPULATED, bound)).await?;
        let settings: Vec<(String,)> = connection
            .rows(&Statement::new(SETTINGS, Vec::new()))
            .await?;
        let settings = settings.into_iter().map(|(setting,)| setting).collect();
        let reliable = match hides_rows {
            true => reliable_columns(connection, names).await?,
            false => HashSet::default(),
        };

        let mut sources = sources_of(rows, &reliable);
        for (name, mut columns) in unique {
            columns.sort_unstable();
            sources
                .entry(name)
                .and_modify(|source| source.unique.push(columns));
        }

        for (name, column, default) in defaults {
            sources
                .entry(name)
                .and_modify(|source| drop(source.defaults.insert(column, default)));
        }

        let facts = if with_facts {
            let types = sources
                .values()
                .flat_map(|source| source.columns.values())
                .map(|column| column.base);
            Some(ColumnFacts::load(connection, names, types).await?)
        } else {
            None
        };

        let (outdated, unlockable) = (outdated.clone(), Mutex::default());
        let (row_functions, silent_channels) = (Functions::default(), Vec::new());

        Ok(Self {
            sources,
            settings,
            unpopulated,
            facts,
            silent_channels,
            outdated,
            unlockable,
            row_functions,
        })
    }

    /// Whether both describe the same state of the database.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // Facts that serve only hints are not compared, as a difference closes all connections.
        self.sources == other.sources
            && self.settings == other.settings
            && self.unpopulated == other.unpopulated
            && self.has_functions_of(other)
    }

    /// Whether the database is read-only: a standby, or set to be read-only.
    pub fn is_read_only(&self) -> bool {
        self.settings.iter().any(|setting| setting == READ_ONLY)
    }

    /// Whether `pg_input_is_valid` can check whether a text is valid for a type.
    pub fn checks_input(&self) -> bool {
        self.settings.iter().any(|setting| setting == CHECKS_INPUT)
    }

    /// Returns the character set of the database, unless it is UTF-8.
    pub fn encoding(&self) -> Option<&str> {
        self.settings
            .iter()
            .find_map(|setting| setting.strip_prefix(ENCODING))
    }

    /// Whether the database stores texts in any character set and does not check them, so that some
    /// may not be UTF-8.
    pub fn has_unchecked_texts(&self) -> bool {
        self.encoding() == Some("SQL_ASCII")
    }

    /// The views and tables that cannot be read yet, each with the materialized view that must be
    /// refreshed first.
    pub fn unpopulated(&self) -> &[(String, String)] {
        &self.unpopulated
    }

    /// Whether PostgreSQL can lock the rows of a view; assumed until an attempt fails.
    pub fn is_lockable(&self, name: &str) -> bool {
        !self
            .unlockable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(name)
    }

    /// Records that PostgreSQL cannot lock the rows of a view. Returns whether that is new.
    pub fn cannot_lock(&self, name: &str) -> bool {
        self.unlockable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned())
    }

    /// The facts used only by hints, if they were read.
    pub fn facts(&self) -> Option<&ColumnFacts> {
        self.facts.as_ref()
    }

    /// Whether nothing in the database notifies this channel of a subscription.
    pub fn is_silent(&self, channel: &str) -> bool {
        self.silent_channels.iter().any(|silent| silent == channel)
    }

    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.get(name)
    }

    /// The view or table, or why there is none.
    pub fn known(&self, name: &str) -> Result<&Source, DbError> {
        self.source(name).ok_or_else(|| {
            self.look_again();
            DbError::UnknownSource(name.to_owned())
        })
    }

    /// Requests a check of the database soon.
    pub(super) fn look_again(&self) {
        self.outdated.notify_one();
    }
}

/// The views and tables in the rows of [`COLUMNS`]. PostgreSQL never fails to compute the `reliable`
/// columns.
fn sources_of(rows: Vec<Row>, reliable: &HashSet<(i64, String)>) -> HashMap<String, Source> {
    let mut sources: HashMap<String, Source> = HashMap::new();
    for row in rows {
        let (
            name,
            column,
            type_name,
            sql,
            is_table,
            is_exact,
            declared,
            base,
            relation,
            is_readable,
            ..,
        ) = row;

        let (.., is_deterministic, is_computed, plain_array) = row;
        let source = sources.entry(name).or_insert_with_key(|name| Source {
            name: name.clone(),
            quoted: quote_path(name),
            relation: oid(relation),
            is_table,
            columns: HashMap::new(),
            in_order: Vec::new(),
            unique: Vec::new(),
            defaults: HashMap::new(),
            denied: HashSet::default(),
        });

        if !is_readable {
            source.denied.insert(column.clone());
        }

        let may_fail = !reliable.contains(&(relation, column.clone()));
        let quoted = quote(&column);
        source.in_order.push(column.clone());
        let (declared, base) = (oid(declared), oid(base));
        let ty = ColumnType {
            name: type_name,
            sql,
            quoted,
            is_exact,
            is_deterministic,
            plain_array,
            is_computed,
            may_fail,
            declared,
            base,
        };

        source.columns.insert(column, ty);
    }

    sources
}

fn oid(number: i64) -> Oid {
    // PostgreSQL's object IDs have 32 bits.
    Oid::try_from(number).unwrap_or_default()
}
