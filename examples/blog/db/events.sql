-- Tells subscribers of posts that change and of comments that are added, whoever writes them.

CREATE OR REPLACE FUNCTION fn_tell_comment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The public key of the post, which the row has not.
    PERFORM pg_notify('comment_added', jsonb_build_object(
        'id', NEW.id, 'op', 'insert', 'post_id', (SELECT id FROM tb_post WHERE pk_post = NEW.fk_post))::text);
    RETURN NULL;
END $$;

DO $triggers$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'tb_post_changed' AND tgrelid = 'tb_post'::regclass) THEN
        CREATE TRIGGER tb_post_changed AFTER INSERT OR UPDATE OR DELETE ON tb_post
            FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed');
    END IF;
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'tb_comment_added' AND tgrelid = 'tb_comment'::regclass) THEN
        CREATE TRIGGER tb_comment_added AFTER INSERT ON tb_comment
            FOR EACH ROW EXECUTE FUNCTION fn_tell_comment();
    END IF;
END
$triggers$;
