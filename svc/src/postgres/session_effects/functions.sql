WITH harmless (extension) AS (
    VALUES ('plpgsql'), ('btree_gin'), ('btree_gist'), ('citext'), ('cube'), ('earthdistance'), ('fuzzystrmatch'),
        ('hstore'), ('intarray'), ('isn'), ('ltree'), ('pg_stat_statements'), ('pg_trgm'), ('pgcrypto'), ('seg'),
        ('unaccent'), ('uuid-ossp'), ('vector')
), setting (node) AS (
    -- As expressions that PostgreSQL has parsed name the functions that set something.
    SELECT '%:funcid ' || p.oid || ' %' FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace
        AND (p.proname = 'set_config' OR p.proname ~ '^pg_(try_)?advisory_lock')
), expression (tree) AS (
    SELECT adbin::text FROM pg_attrdef
    UNION ALL SELECT conbin::text FROM pg_constraint WHERE conbin IS NOT NULL
    UNION ALL SELECT concat(polqual::text, polwithcheck::text) FROM pg_policy
    UNION ALL SELECT tgqual::text FROM pg_trigger WHERE tgqual IS NOT NULL
    UNION ALL SELECT concat(indexprs::text, indpred::text) FROM pg_index WHERE indexprs IS NOT NULL OR indpred IS NOT NULL
    UNION ALL SELECT ev_action::text FROM pg_rewrite WHERE ev_class >= 16384
    UNION ALL SELECT to_jsonb(p) ->> 'prosqlbody' FROM pg_proc p WHERE p.oid >= 16384 AND p.prosrc = ''
)
SELECT p.oid::regprocedure::text, l.lanname::text, p.prosrc
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.oid >= 16384 AND p.prokind <> 'a' AND NOT EXISTS (
    SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid JOIN harmless h ON h.extension = e.extname
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
)
UNION ALL
SELECT 'an expression of a view, table or function', 'expression', ''
WHERE EXISTS (SELECT FROM expression e JOIN setting s ON e.tree LIKE s.node)
ORDER BY 1
