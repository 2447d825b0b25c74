WITH RECURSIVE options AS (
    SELECT c.oid, coalesce(bool_or(o.option_value::bool), false) AS invoker
    FROM pg_class c CROSS JOIN pg_options_to_table(c.reloptions) o
    WHERE c.relkind = 'v' AND o.option_name = 'security_invoker' GROUP BY c.oid
), caller AS (
    SELECT oid FROM pg_roles WHERE rolname = current_user
), reached (root, rel, reader, switch, stored) AS (
    SELECT to_regclass(s.quoted)::oid, to_regclass(s.quoted)::oid, (SELECT oid FROM caller), 0::oid, 0::oid
    FROM unnest($1::text[]) AS s (quoted) WHERE to_regclass(s.quoted) IS NOT NULL
  UNION
    SELECT r.root, d.refobjid,
        CASE WHEN c.relkind = 'v' AND i.invoker THEN (SELECT oid FROM caller) ELSE c.relowner END,
        CASE WHEN c.relkind = 'v' AND i.invoker THEN 0 ELSE c.oid END,
        CASE WHEN c.relkind = 'm' AND r.stored = 0 THEN c.oid ELSE r.stored END
    FROM reached r
    JOIN pg_class c ON c.oid = r.rel AND c.relkind IN ('v', 'm')
    LEFT JOIN options i ON i.oid = c.oid
    JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1'
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> c.oid
), guarded AS (
    SELECT c.oid, c.relowner, c.relrowsecurity, c.relforcerowsecurity,
        EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS has_policies
    FROM pg_class c WHERE c.relkind IN ('r', 'p')
)
