-- All that makes a schema, as kind, name and definition. Owners and grants are left out: each database has its own.
WITH schemas AS (
    SELECT oid, nspname FROM pg_namespace
    WHERE nspname <> 'information_schema' AND nspname !~ '^pg_' AND nspname !~ '^svc_'
), own AS (
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e'
), relations AS (
    SELECT c.*, s.nspname, format('%I.%I', s.nspname, c.relname) AS name
    FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace
    WHERE NOT EXISTS (SELECT FROM own WHERE classid = 'pg_class'::regclass AND objid = c.oid)
        AND c.relname <> '_sqlx_migrations'
)
SELECT 'schema' AS kind, quote_ident(nspname) AS name, '' AS definition FROM schemas WHERE nspname <> 'public'
UNION ALL
SELECT 'extension', quote_ident(extname), '' FROM pg_extension
UNION ALL
SELECT 'table', name, concat_ws(' ', relkind, relpersistence, relrowsecurity, relforcerowsecurity, pg_get_partkeydef(oid))
FROM relations WHERE relkind IN ('r', 'p', 'f')
UNION ALL
SELECT 'column', r.name || '.' || quote_ident(a.attname), concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
    nullif(a.attidentity, ''), nullif(a.attgenerated, ''))
FROM relations r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
WHERE r.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT 'constraint', quote_ident(k.conname) || ' on ' || r.name, pg_get_constraintdef(k.oid)
FROM pg_constraint k JOIN relations r ON r.oid = k.conrelid WHERE k.contype IN ('c', 'f', 'p', 'u', 'x') AND r.relkind <> 'm'
UNION ALL
SELECT 'index', i.name, pg_get_indexdef(i.oid) FROM relations i
JOIN pg_index x ON x.indexrelid = i.oid
WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT CASE relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, name,
    concat_ws(' ', pg_get_viewdef(oid), reloptions::text)
FROM relations WHERE relkind IN ('v', 'm')
UNION ALL
SELECT 'sequence', r.name, concat_ws(' ', format_type(s.seqtypid, NULL), s.seqincrement, s.seqstart, s.seqmin, s.seqmax)
FROM relations r JOIN pg_sequence s ON s.seqrelid = r.oid
WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = r.oid AND d.deptype = 'i')
UNION ALL
SELECT 'function', format('%I.%I(%s)', s.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
    CASE WHEN p.prokind IN ('f', 'p', 'w') THEN pg_get_functiondef(p.oid) ELSE pg_get_function_result(p.oid) END
FROM pg_proc p JOIN schemas s ON s.oid = p.pronamespace
WHERE NOT EXISTS (SELECT FROM own WHERE classid = 'pg_proc'::regclass AND objid = p.oid)
UNION ALL
SELECT 'trigger', quote_ident(t.tgname) || ' on ' || r.name, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
FROM pg_trigger t JOIN relations r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'policy', quote_ident(p.polname) || ' on ' || r.name, concat_ws(' ', p.polcmd, p.polpermissive,
    (SELECT string_agg(CASE o WHEN 0 THEN 'public' ELSE pg_get_userbyid(o) END, ',' ORDER BY o) FROM unnest(p.polroles) o),
    pg_get_expr(p.polqual, p.polrelid), 'CHECK ' || pg_get_expr(p.polwithcheck, p.polrelid))
FROM pg_policy p JOIN relations r ON r.oid = p.polrelid
UNION ALL
SELECT CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' ELSE 'type' END, format('%I.%I', s.nspname, t.typname),
    CASE t.typtype
        WHEN 'e' THEN (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)
        WHEN 'd' THEN concat_ws(' ', format_type(t.typbasetype, t.typtypmod), t.typnotnull, t.typdefault,
            (SELECT string_agg(pg_get_constraintdef(k.oid), ' ' ORDER BY k.conname) FROM pg_constraint k WHERE k.contypid = t.oid))
        ELSE (SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)
    END
FROM pg_type t JOIN schemas s ON s.oid = t.typnamespace LEFT JOIN pg_class c ON c.oid = t.typrelid
WHERE (t.typtype IN ('e', 'd') OR t.typtype = 'c' AND c.relkind = 'c')
    AND NOT EXISTS (SELECT FROM own WHERE classid = 'pg_type'::regclass AND objid = t.oid)
