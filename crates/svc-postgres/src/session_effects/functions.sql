WITH harmless (extension) AS (
    VALUES ('plpgsql'), ('btree_gin'), ('btree_gist'), ('citext'), ('cube'), ('earthdistance'), ('fuzzystrmatch'),
        ('hstore'), ('intarray'), ('isn'), ('ltree'), ('pg_stat_statements'), ('pg_trgm'), ('pgcrypto'), ('seg'),
        ('unaccent'), ('uuid-ossp'), ('vector')
), effect AS (
    SELECT * FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname
        ~ '^(set_config|pg_(try_)?advisory_lock|(query|cursor|table|schema|database)_to_xml|ts_stat$|ts_rewrite$)'
), setting (node) AS (
    -- As expressions that PostgreSQL has parsed name the functions that set something.
    SELECT '%funcid ' || p.oid || ' %' FROM effect p
    UNION ALL SELECT '%:relid ' || 'pg_settings'::regclass::oid || ' %'
), expression (tree) AS (
    SELECT adbin::text FROM pg_attrdef
    UNION ALL SELECT conbin::text FROM pg_constraint WHERE conbin IS NOT NULL
    UNION ALL SELECT tgqual::text FROM pg_trigger WHERE tgqual IS NOT NULL
    UNION ALL SELECT concat(indexprs::text, indpred::text) FROM pg_index WHERE indexprs IS NOT NULL OR indpred IS NOT NULL
    UNION ALL SELECT ev_action::text FROM pg_rewrite WHERE ev_class >= 16384
    UNION ALL SELECT typdefaultbin::text FROM pg_type WHERE typdefaultbin IS NOT NULL
    UNION ALL SELECT proargdefaults::text FROM pg_proc WHERE oid >= 16384 AND proargdefaults IS NOT NULL
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
UNION ALL
SELECT format('the policy %s of %s', policyname, tablename), 'internal', concat(qual, ' ', with_check) FROM pg_policies
UNION ALL
-- An operator, a cast or an aggregate over such a function, and a function whose objects are temporary.
SELECT o.name, 'expression', '' FROM (
    SELECT oid::regoperator::text AS name, oprcode::oid AS code FROM pg_operator WHERE oid >= 16384
    UNION ALL SELECT format('the cast to %s', casttarget::regtype), castfunc FROM pg_cast WHERE oid >= 16384
    UNION ALL SELECT a.aggfnoid::text, unnest(ARRAY[a.aggtransfn, a.aggfinalfn]::oid[]) FROM pg_aggregate a
    WHERE a.aggfnoid::oid >= 16384
) o JOIN effect e ON e.oid = o.code
UNION ALL
SELECT p.oid::regprocedure::text, 'expression', '' FROM pg_proc p
WHERE p.oid >= 16384 AND array_to_string(p.proconfig, ' ') ~ 'search_path=[" ]*pg_temp'
ORDER BY 1
