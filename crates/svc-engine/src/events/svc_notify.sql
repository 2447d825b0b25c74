-- Tells subscribers of changed rows: a trigger for each table, with the channel, then what a payload says of a row.
--
--     CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE ON tb_post
--         FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'author_id');
--
-- A payload has `id` and `op` (insert, update or delete), and each further column that is named. `key=column` gives a
-- column another key, such as `id=pk_post` for a table whose primary key is not `id`. A payload that is too long for
-- NOTIFY is sent with `id` and `op` alone. An update that changes nothing is not told.
CREATE OR REPLACE FUNCTION svc_notify() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    row_values jsonb;
    payload jsonb;
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) = to_jsonb(OLD) THEN
        RETURN NULL;
    END IF;
    row_values := CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
    payload := jsonb_build_object('id', row_values -> 'id', 'op', lower(TG_OP));
    FOR argument IN 1 .. TG_NARGS - 1 LOOP
        payload := payload || jsonb_build_object(
            split_part(TG_ARGV[argument], '=', 1),
            row_values -> regexp_replace(TG_ARGV[argument], '^[^=]*=', ''));
    END LOOP;
    IF octet_length(payload::text) >= 8000 THEN
        payload := jsonb_build_object('id', payload -> 'id', 'op', payload -> 'op');
    END IF;
    PERFORM pg_notify(TG_ARGV[0], payload::text);
    RETURN NULL;
END
$function$;
