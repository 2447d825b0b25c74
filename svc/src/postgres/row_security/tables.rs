//! Tables whose policies do not bind, seen through the views that read them.

use super::Finding;
use crate::postgres::driver::{DedicatedConnection, DriverError};
use crate::postgres::{Param, Statement};

/// The tables that views lead to, and as whom each is read: as its owner through an ordinary view, and as the
/// service through one with `security_invoker`, whichever views are in front of that.
const REACH: &str = include_str!("reach.sql");

const UNBOUND: &str = "
SELECT r.root::regclass::text, t.oid::regclass::text, pg_get_userbyid(r.reader)::text,
    CASE WHEN r.switch <> 0 THEN r.switch::regclass::text END,
    CASE WHEN r.stored <> 0 THEN r.stored::regclass::text END,
    CASE
        WHEN r.stored <> 0 THEN 'stored'
        WHEN NOT t.relrowsecurity AND t.has_policies THEN 'disabled'
        WHEN NOT t.relrowsecurity THEN 'parts'
        WHEN role.rolsuper THEN 'superuser'
        WHEN role.rolbypassrls THEN 'bypass'
        WHEN NOT t.relforcerowsecurity AND pg_has_role(r.reader, t.relowner, 'USAGE') THEN 'owner'
        ELSE 'none'
    END,
    current_setting('server_version_num')::int >= 150000
FROM reached r
JOIN guarded t ON t.oid = r.rel
JOIN pg_roles role ON role.oid = r.reader
WHERE t.relrowsecurity OR t.has_policies OR EXISTS (
    SELECT FROM pg_partition_tree(t.oid) part JOIN pg_class c ON c.oid = part.relid
    WHERE c.oid <> t.oid AND c.relrowsecurity
) OR EXISTS (
    SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = t.oid AND c.relrowsecurity
)
ORDER BY 1, 2, 3, 4";

/// A row of the catalogue: what is asked for, the table, who reads it, through which view of another owner, from which
/// materialized view, what is wrong, and whether views can read as their caller.
type Row = (String, String, String, Option<String>, Option<String>, String, bool);

/// A statement over the tables that views lead to.
pub(super) fn reached(sql: &str, quoted: &[String]) -> Statement {
    Statement::new(format!("{REACH}{sql}"), vec![Param::Texts(quoted.to_vec())])
}

/// What policies do not bind, behind these views and tables.
pub(super) async fn unbound(
    connection: &mut DedicatedConnection,
    quoted: &[String],
) -> Result<Vec<Finding>, DriverError> {
    let rows: Vec<Row> = connection.rows(&reached(UNBOUND, quoted)).await?;
    Ok(rows.into_iter().filter_map(finding).collect())
}

fn finding((root, table, reader, switch, stored, problem, has_invoker): Row) -> Option<Finding> {
    let reads = if root == table { format!("`{table}` is read") } else { format!("`{root}` reads `{table}`") };
    let who = match &switch {
        Some(view) => format!("`{reader}`, who owns the view `{view}`"),
        None => format!("`{reader}`, as whom the service connects"),
    };
    let (what, fix) = match problem.as_str() {
        "none" => return None,
        "stored" => (
            format!("{reads} from the materialized view `{}`, to which no policy applies", stored.unwrap_or_default()),
            "read an ordinary view instead".to_owned(),
        ),
        "disabled" => (
            format!("{reads}, whose policies are not enabled"),
            format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"),
        ),
        "parts" => (
            format!("{reads}, and the policies of its partitions are not asked when they are read through it"),
            format!("give {table} the policies, and ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"),
        ),
        why => {
            (format!("{reads} as {who}, {}", passes(why)), fix(why, &table, &reader, switch.as_deref(), has_invoker))
        }
    };
    Some(Finding { what, fix })
}

fn passes(why: &str) -> &'static str {
    match why {
        "superuser" => "a superuser, who passes every policy",
        "bypass" => "who has BYPASSRLS and passes every policy",
        _ => "who owns the table and so passes its policies",
    }
}

fn fix(why: &str, table: &str, reader: &str, switch: Option<&str>, has_invoker: bool) -> String {
    match (switch, why) {
        (Some(view), _) if has_invoker => format!("ALTER VIEW {view} SET (security_invoker = true)"),
        (_, "owner") => format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY, or let another role own it"),
        (Some(view), _) => format!("ALTER VIEW {view} OWNER TO a role that policies bind"),
        (None, "bypass") => format!("ALTER ROLE {reader} NOBYPASSRLS, or name another role in the database URL"),
        (None, _) => "name an ordinary role in the database URL, or `.role(\"app\")` in the options of an embedded \
                      database"
            .to_owned(),
    }
}
