-- A snapshot, a fingerprint of what is read of the catalog, and one of what may set something for the session. The
-- program adds rules.sql and `FROM now`. The fingerprints are null as long as nothing at all has changed since the snapshot
-- `$1`, which costs PostgreSQL a comparison of two texts. A standby leaves transactions out of its snapshots, so there they
-- are always computed.
WITH now AS MATERIALIZED (SELECT pg_current_snapshot()::text AS snapshot)
SELECT now.snapshot, CASE WHEN now.snapshot = $1 AND NOT pg_is_in_recovery() THEN NULL ELSE concat_ws(' ',
    (SELECT sum(hashtextextended(concat(a.xmin, c.relacl), (a.attrelid::int8 << 31) + (s.i << 12) + a.attnum)
            # hashtextextended(t.xmin::text, t.oid::int8))
        FROM unnest($2::text[]) WITH ORDINALITY AS s(quoted, i)
        JOIN pg_attribute a ON a.attrelid = to_regclass(s.quoted) AND a.attnum > 0
        JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid),
    -- The queries of the views and of the views below them, and the materialized views that have no rows yet.
    (WITH RECURSIVE below (rel) AS (
            SELECT to_regclass(s.quoted)::oid FROM unnest($2::text[]) AS s(quoted)
          UNION
            SELECT used.oid FROM below b JOIN pg_class c ON c.oid = b.rel AND c.relkind = 'v'
            JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1'
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> c.oid
            JOIN pg_class used ON used.oid = d.refobjid AND used.relkind IN ('v', 'm')
        ) SELECT concat_ws(' ', sum(hashtextextended(w.xmin::text, w.oid::int8)),
            sum(hashtextextended(c.relname::text, b.rel::int8)) FILTER (WHERE NOT c.relispopulated))
        FROM below b JOIN pg_class c ON c.oid = b.rel
        LEFT JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1'),
    (SELECT sum(hashtextextended(i.xmin::text, i.indexrelid::int8)) FROM unnest($2::text[]) AS s(quoted)
        JOIN pg_index i ON i.indrelid = to_regclass(s.quoted) AND i.indisunique),
    (SELECT sum(hashtextextended(concat_ws(' ', p.oid, p.xmin, pg_function_is_visible(p.oid)), 0))
        FROM pg_proc p WHERE p.proname = ANY ($3::text[])),
    (SELECT sum(hashtextextended(concat_ws(' ', p.oid, t.oid, t.xmin, (
            SELECT sum(hashtextextended(a.xmin::text, a.attnum)) FROM pg_attribute a
            WHERE a.attrelid = t.typrelid AND a.attnum > 0)), 0))
        FROM pg_proc p JOIN pg_type t ON t.oid = ANY (p.proargtypes::oid[] || p.prorettype)
        WHERE p.proname = ANY ($3::text[])),
    (SELECT sum(hashtextextended(concat_ws(' ', n.oid, n.xmin), 0)) FROM pg_namespace n),
    (SELECT sum(hashtextextended(concat_ws(' ', s.setdatabase, s.setrole, s.setconfig), 0))
        FROM pg_db_role_setting s
        WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
        AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))),
    pg_is_in_recovery()
) END, CASE WHEN now.snapshot = $1 AND NOT pg_is_in_recovery() THEN NULL ELSE concat_ws(' ',
    (SELECT sum(hashtextextended(concat_ws(' ', p.oid, p.xmin), 0)) FROM pg_proc p WHERE p.oid >= 16384),
    (SELECT sum(hashtextextended(concat_ws(' ', e.oid, e.xmin), 0)) FROM (
        SELECT oid, xmin FROM pg_attrdef
        UNION ALL SELECT oid, xmin FROM pg_rewrite WHERE oid >= 16384
        UNION ALL SELECT oid, xmin FROM pg_constraint WHERE conbin IS NOT NULL AND oid >= 16384
        UNION ALL SELECT oid, xmin FROM pg_trigger WHERE tgqual IS NOT NULL
        UNION ALL SELECT oid, xmin FROM pg_type WHERE typdefaultbin IS NOT NULL
        UNION ALL SELECT oid, xmin FROM pg_operator WHERE oid >= 16384
        UNION ALL SELECT oid, xmin FROM pg_cast WHERE oid >= 16384) AS e)
) END
