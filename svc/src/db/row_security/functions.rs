//! Functions that run as an owner whom policies do not bind.

use sqlx::{AssertSqlSafe, PgConnection};

use super::Finding;
use super::tables::REACH;

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
    connection: &mut PgConnection,
    quoted: &[String],
    called: Vec<&str>,
) -> Result<(Vec<Finding>, Vec<Finding>), sqlx::Error> {
    let parts = called.into_iter().map(|name| name.split_once('.').unwrap_or(("", name)));
    let (schemas, names): (Vec<&str>, Vec<&str>) = parts.unzip();
    let sql = AssertSqlSafe(format!("{REACH}{DEFINERS}"));
    let query = sqlx::query_as(sql).bind(quoted).bind(schemas).bind(names);
    let rows: Vec<(String, Option<String>, String, bool)> = query.fetch_all(connection).await?;
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
