-- The views, routines, policies and triggers that depend on some objects, and what has to be restored of them.
-- $1, $2: the classes and the numbers of the objects. $3: whether these go too, with all that is part of them.
-- $4: whether they are listed themselves.
WITH RECURSIVE found (classid, objid, depth) AS (
    SELECT r.classid, r.objid, 0 FROM unnest($1::oid[], $2::oid[]) AS r (classid, objid)
    UNION
    SELECT n.classid, n.objid, f.depth + 1
    FROM found f, LATERAL (
        SELECT 'pg_type'::regclass::oid AS classid, t.oid AS objid FROM pg_type t
        WHERE f.classid = 'pg_class'::regclass AND t.typrelid = f.objid AND (f.depth > 0 OR $3)
        UNION ALL
        SELECT f.classid, t.typarray FROM pg_type t
        WHERE f.classid = 'pg_type'::regclass AND t.oid = f.objid AND t.typarray <> 0
        UNION ALL
        SELECT CASE WHEN d.classid = 'pg_rewrite'::regclass THEN 'pg_class'::regclass::oid ELSE d.classid END,
            CASE WHEN d.classid = 'pg_rewrite'::regclass THEN r.ev_class ELSE d.objid END
        FROM pg_depend d LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
        WHERE d.refclassid = f.classid AND d.refobjid = f.objid
            AND d.classid IN ('pg_rewrite'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass, 'pg_trigger'::regclass)
            AND (d.deptype = 'n' OR d.deptype = 'a' AND (f.depth > 0 OR $3))
    ) n
    WHERE f.depth < 60 AND (n.classid, n.objid) <> (f.classid, f.objid)
), deepest AS (
    SELECT classid, objid, max(depth) AS depth FROM found GROUP BY classid, objid
)
SELECT d.objid, d.classid,
    CASE WHEN c.relkind IS NOT NULL THEN pg_get_userbyid(c.relowner) ELSE pg_get_userbyid(p.proowner) END::text,
    c.reloptions,
    coalesce(obj_description(d.objid, d.classid::regclass::name), ''),
    coalesce((
        SELECT array_agg(format('%s ON %s TO %s%s', a.privilege_type,
            CASE WHEN c.oid IS NOT NULL THEN 'TABLE' ELSE 'ROUTINE' END || ' %s',
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
            CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END))
        FROM aclexplode(coalesce(c.relacl, p.proacl)) a WHERE a.grantee <> coalesce(c.relowner, p.proowner)
    ), '{}') || coalesce((
        SELECT array_agg(format('%s (%I) ON TABLE %s TO %s', x.privilege_type, a.attname, '%s',
            CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END))
        FROM pg_attribute a, aclexplode(a.attacl) x WHERE a.attrelid = c.oid AND x.grantee <> c.relowner
    ), '{}'),
    p.proacl IS NOT NULL AND NOT EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 0),
    coalesce((SELECT array_agg(pg_get_indexdef(i.indexrelid)) FROM pg_index i WHERE i.indrelid = c.oid), '{}')
FROM deepest d
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
WHERE (d.depth > 0 OR $4) AND d.classid <> 'pg_type'::regclass
    AND (c.oid IS NULL OR c.relkind IN ('v', 'm')) AND NOT coalesce(t.tgisinternal, false)
ORDER BY d.depth DESC, d.classid, d.objid
