-- v_query_stats: what pg_stat_statements knows of the statements of this database, one row for each. Without the
-- extension there is no view. It can be run again and again.
DO $migration$
DECLARE
    extension text := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                       WHERE e.extname = 'pg_stat_statements');
BEGIN
    IF extension IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format($view$
        CREATE OR REPLACE VIEW v_query_stats AS
        SELECT s.queryid,
               min(s.query) AS query,
               sum(s.calls)::bigint AS calls,
               sum(s.total_exec_time) AS total_exec_time,
               sum(s.total_exec_time) / greatest(sum(s.calls), 1)::double precision AS mean_exec_time,
               min(s.min_exec_time) AS min_exec_time,
               max(s.max_exec_time) AS max_exec_time,
               sum(s.rows)::bigint AS rows_returned,
               sum(s.shared_blks_hit)::bigint AS shared_blks_hit,
               sum(s.shared_blks_read)::bigint AS shared_blks_read,
               coalesce(sum(s.shared_blks_hit) / nullif(sum(s.shared_blks_hit + s.shared_blks_read), 0), 1)::double precision
                   AS cache_hit_ratio
        FROM %I.pg_stat_statements s
        WHERE s.dbid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND s.queryid IS NOT NULL
        GROUP BY s.queryid
    $view$, extension);
END
$migration$;
