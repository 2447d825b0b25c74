-- What changes with each change of all that decides which rows a read gives besides the rows themselves.
, CASE WHEN now.snapshot = $1 AND NOT pg_is_in_recovery() THEN NULL ELSE (
    -- The `xmin` of a row shows a change also after it is undone. That of a table in `pg_class` counts only under
    -- row-level security: TRUNCATE and REFRESH MATERIALIZED VIEW change it too, as they change rows.
    WITH RECURSIVE lasting AS NOT MATERIALIZED (
        SELECT *, CASE WHEN relkind IN ('p', 'v', 'f') OR relrowsecurity THEN xmin END AS version FROM pg_class
        WHERE oid >= 16384 AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relpersistence <> 't'
    ), reader (oid) AS (
        -- The roles as which rows are read: that of the service, owners, and those that they are members of.
        (SELECT oid FROM pg_roles WHERE rolname IN (session_user, current_user)
            UNION SELECT relowner FROM lasting UNION SELECT proowner FROM pg_proc WHERE oid >= 16384)
        UNION SELECT m.roleid FROM reader r JOIN pg_auth_members m ON m.member = r.oid
    )
    SELECT concat_ws(' ',
        -- The server and the database, so that another one is another version, and the role that reads.
        session_user, extract(epoch FROM pg_postmaster_start_time()), pg_is_in_recovery(),
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        (SELECT sum(hashtextextended(concat_ws(' ', c.oid, c.relname, c.relnamespace, c.relkind, c.relowner, c.relacl,
                c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.version), 0)) FROM lasting c),
        (SELECT sum(hashtextextended(a.xmin::text, (a.attrelid::int8 << 16) + a.attnum))
            FROM lasting c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0),
        (SELECT sum(hashtextextended(concat_ws(' ', n.nspname, n.nspowner, n.nspacl, n.xmin), 0)) FROM pg_namespace n
            WHERE n.nspname !~ '^pg_(toast_)?temp_'),
        (SELECT sum(hashtextextended(concat_ws(' ', r.oid, r.rolsuper, r.rolinherit, r.rolbypassrls), 0))
            FROM pg_roles r WHERE r.oid IN (SELECT oid FROM reader)),
        (SELECT sum(hashtextextended(concat_ws(' ', s.setdatabase, s.setrole, s.setconfig, s.xmin), 0))
            FROM pg_db_role_setting s
            WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
            AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))),
        (SELECT sum(hashtextextended(concat_ws(' ', e.class, e.id, e.xmin), 0)) FROM (
            SELECT 'policy' AS class, oid::text AS id, xmin FROM pg_policy
            UNION ALL SELECT 'rewrite', w.oid::text, w.xmin FROM pg_rewrite w JOIN lasting c ON c.oid = w.ev_class
            UNION ALL SELECT 'attrdef', d.oid::text, d.xmin FROM pg_attrdef d JOIN lasting c ON c.oid = d.adrelid
            UNION ALL SELECT 'inherits', concat(i.inhrelid, ' ', i.inhparent), i.xmin
                FROM pg_inherits i JOIN lasting c ON c.oid = i.inhrelid
            UNION ALL SELECT 'foreign table', f.ftrelid::text, f.xmin FROM pg_foreign_table f
            UNION ALL SELECT 'foreign server', oid::text, xmin FROM pg_foreign_server
            UNION ALL SELECT 'function', oid::text, xmin FROM pg_proc WHERE oid >= 16384
            UNION ALL SELECT 'operator', oid::text, xmin FROM pg_operator WHERE oid >= 16384
            UNION ALL SELECT 'cast', oid::text, xmin FROM pg_cast WHERE oid >= 16384
            UNION ALL SELECT 'enum', oid::text, xmin FROM pg_enum
            UNION ALL SELECT 'type', oid::text, xmin FROM pg_type WHERE oid >= 16384 AND typtype IN ('d', 'e', 'r', 'm')
            UNION ALL SELECT 'collation', oid::text, xmin FROM pg_collation WHERE oid >= 16384
            UNION ALL SELECT 'text search', concat(mapcfg, ' ', maptokentype, ' ', mapseqno), xmin FROM pg_ts_config_map
                WHERE mapcfg >= 16384
            UNION ALL SELECT 'dictionary', oid::text, xmin FROM pg_ts_dict WHERE oid >= 16384
            UNION ALL SELECT 'member', concat(roleid, ' ', member), xmin FROM pg_auth_members
                WHERE member IN (SELECT oid FROM reader)) AS e)
    )
) END
