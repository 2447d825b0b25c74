WITH RECURSIVE caller AS (
    SELECT oid FROM pg_roles WHERE rolname = current_user
), reached (root, rel, reader, switch, stored) AS (
    SELECT to_regclass(s.quoted)::oid, to_regclass(s.quoted)::oid, (SELECT oid FROM caller), 0::oid, 0::oid
    FROM unnest($1::text[]) AS s (quoted) WHERE to_regclass(s.quoted) IS NOT NULL
  UNION
    SELECT r.root, d.rel,
        CASE WHEN invoker.yes OR d.is_result THEN (SELECT oid FROM caller) ELSE c.relowner END,
        CASE WHEN invoker.yes OR d.is_result THEN 0 ELSE c.oid END,
        CASE WHEN c.relkind = 'm' AND r.stored = 0 THEN c.oid ELSE r.stored END
    FROM reached r
    JOIN pg_class c ON c.oid = r.rel AND c.relkind IN ('v', 'm')
    JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1'
    CROSS JOIN LATERAL (
        SELECT c.relkind = 'v' AND EXISTS (
            SELECT FROM pg_options_to_table(c.reloptions) o
            WHERE o.option_name = 'security_invoker' AND o.option_value::bool
        )
    ) AS invoker (yes)
    CROSS JOIN LATERAL (
        -- A view also depends on a table of whose rows a function only gives the type. The function runs as the caller.
        SELECT d.refobjid, CASE WHEN EXISTS (
            SELECT FROM pg_depend f
            JOIN pg_proc p ON p.oid = f.refobjid
            JOIN pg_type t ON t.oid = p.prorettype AND t.typrelid = d.refobjid
            WHERE f.classid = 'pg_rewrite'::regclass AND f.objid = w.oid AND f.refclassid = 'pg_proc'::regclass
        ) THEN strpos(w.ev_action::text, ':relid ' || d.refobjid || ' ') = 0 ELSE false END
        FROM (
            SELECT DISTINCT d.refobjid FROM pg_depend d
            WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> c.oid
        ) AS d
    ) AS d (rel, is_result)
), guarded AS (
    SELECT c.oid, c.relowner, c.relrowsecurity, c.relforcerowsecurity,
        EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS has_policies
    FROM pg_class c WHERE c.relkind IN ('r', 'p')
)
