//! Functions that run as an owner whom policies do not bind.

use super::Finding;
use super::tables::reached;
use crate::postgres::driver::{DedicatedConnection, DriverError};
use crate::postgres::functions::{split, texts};

const DEFINERS: &str = ", used (fun, view) AS (
    SELECT DISTINCT d.refobjid, r.rel FROM reached r
    JOIN pg_rewrite w ON w.ev_class = r.rel AND w.ev_type = '1'
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_proc'::regclass
  UNION
    SELECT p.oid, 0 FROM unnest($2::text[], $3::text[]) AS f (schema, name)
    JOIN pg_proc p ON p.proname = f.name JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE CASE WHEN f.schema = '' THEN pg_function_is_visible(p.oid) ELSE n.nspname = f.schema END
)
SELECT p.oid::regprocedure::text, CASE WHEN u.view <> 0 THEN u.view::regclass::text END, role.rolname::text,
    role.rolsuper OR role.rolbypassrls
FROM used u
JOIN pg_proc p ON p.oid = u.fun AND p.prosecdef
JOIN pg_roles role ON role.oid = p.proowner
WHERE EXISTS (
    SELECT FROM guarded t WHERE t.relrowsecurity AND (role.rolsuper OR role.rolbypassrls
        OR (NOT t.relforcerowsecurity AND pg_has_role(p.proowner, t.relowner, 'USAGE')))
)
ORDER BY 1, 2";

/// Functions with SECURITY DEFINER: those that views call, and those that the service calls.
pub(super) async fn definers(
    connection: &mut DedicatedConnection,
    quoted: &[String],
    called: &[&str],
) -> Result<(Vec<Finding>, Vec<Finding>), DriverError> {
    let (schemas, names) = split(called);
    let mut statement = reached(DEFINERS, quoted);
    statement.params.extend([schemas, names].map(texts));
    let rows: Vec<(String, Option<String>, String, bool)> = connection.rows(&statement).await?;
    let (in_views, called): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, view, ..)| view.is_some());
    Ok((in_views.into_iter().map(finding).collect(), called.into_iter().map(finding).collect()))
}

fn finding((function, view, owner, passes_all): (String, Option<String>, String, bool)) -> Finding {
    let caller = view.map_or_else(|| "the service".to_owned(), |view| format!("`{view}`"));
    let passes = if passes_all { "who passes every policy" } else { "who owns tables and so passes their policies" };
    Finding {
        what: format!("{caller} calls `{function}`, which runs as its owner `{owner}`, {passes}"),
        fix: format!("ALTER FUNCTION {function} SECURITY INVOKER, or OWNER TO a role that policies bind"),
    }
}
