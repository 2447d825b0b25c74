, used (class, object, rel) AS (
    SELECT d.refclassid, d.refobjid, r.rel FROM reached r
    JOIN pg_rewrite w ON w.ev_class = r.rel AND w.ev_type = '1'
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
  UNION
    SELECT 'pg_proc'::regclass::oid, p.oid, 0::oid FROM unnest($2::text[], $3::text[]) AS f (schema, name)
    JOIN pg_proc p ON p.proname = f.name JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE CASE WHEN f.schema = '' THEN pg_function_is_visible(p.oid) ELSE n.nspname = f.schema END
  UNION
    -- The functions of operators and aggregates, and those in bodies that PostgreSQL has parsed.
    SELECT d.refclassid, d.refobjid, u.rel FROM used u
    JOIN pg_depend d ON d.classid = u.class AND d.objid = u.object
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
), found (part, problem, root, subject, reader, switch, stored) AS (
    SELECT 1, CASE
            WHEN r.stored <> 0 THEN 'stored'
            WHEN NOT t.relrowsecurity AND t.has_policies THEN 'disabled'
            WHEN NOT t.relrowsecurity THEN 'parts'
            WHEN role.rolsuper THEN 'superuser'
            WHEN role.rolbypassrls THEN 'bypass'
            WHEN NOT t.relforcerowsecurity AND pg_has_role(r.reader, t.relowner, 'USAGE') THEN 'owner'
        END,
        r.root::regclass::text, t.oid::regclass::text, role.rolname::text,
        CASE WHEN r.switch <> 0 THEN r.switch::regclass::text END,
        CASE WHEN r.stored <> 0 THEN r.stored::regclass::text END
    FROM reached r
    JOIN guarded t ON t.oid = r.rel
    JOIN pg_roles role ON role.oid = r.reader
    WHERE t.relrowsecurity OR t.has_policies OR EXISTS (
        SELECT FROM pg_partition_tree(t.oid) part JOIN pg_class c ON c.oid = part.relid
        WHERE c.oid <> t.oid AND c.relrowsecurity
    ) OR EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = t.oid AND c.relrowsecurity
    )
  UNION ALL
    SELECT 2, CASE WHEN role.rolsuper OR role.rolbypassrls THEN 'definer of all' ELSE 'definer of its own' END,
        CASE WHEN u.rel <> 0 THEN u.rel::regclass::text END, p.oid::regprocedure::text, role.rolname::text, NULL, NULL
    FROM used u
    JOIN pg_proc p ON u.class = 'pg_proc'::regclass AND p.oid = u.object AND p.prosecdef
    JOIN pg_roles role ON role.oid = p.proowner
    WHERE EXISTS (
        SELECT FROM guarded t WHERE t.relrowsecurity AND (role.rolsuper OR role.rolbypassrls
            OR (NOT t.relforcerowsecurity AND pg_has_role(p.proowner, t.relowner, 'USAGE')))
    )
)
SELECT problem, root, subject, reader, switch, stored, current_setting('server_version_num')::int >= 150000
FROM found WHERE problem IS NOT NULL
ORDER BY part, root, subject, reader, switch
