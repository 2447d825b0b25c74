//! `svc generate accounts` and others: the SQL of svc's parts as migrations.

use crate::database::project;

#[test]
fn the_sql_of_parts_is_a_migration() {
    let place = project();
    place.ask(
        "CREATE TABLE tb_post (id int PRIMARY KEY, title text); \
         DO $$ BEGIN CREATE ROLE bundled_service; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    );
    for (arguments, end) in [
        (
            &["generate", "accounts", "--role", "bundled_service"][..],
            "_svc_accounts.sql\n",
        ),
        (&["generate", "api-keys"], "_svc_api_keys.sql\n"),
        (
            &["generate", "notify", "--table", "tb_post"],
            "_svc_notify.sql\n",
        ),
        (
            &["generate", "error-tracker", "--role", "bundled_service"],
            "_svc_error_tracker.sql\n",
        ),
        (&["generate", "query-stats"], "_svc_query_stats.sql\n"),
    ] {
        let path = place.svc(arguments).good();
        assert!(
            path.starts_with("db/migrations/") && path.ends_with(end),
            "{path}"
        );
    }
    place.svc(&["migrate", "up"]).good();
    let made = "SELECT has_function_privilege('bundled_service', p.oid, 'EXECUTE'), to_regclass('svc_api_key') IS NOT NULL, \
        EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'tb_post'::regclass AND tgname = 'post_changed'), \
        to_regclass('svc_errors.error_group') IS NOT NULL \
        FROM pg_proc p WHERE p.pronamespace = 'svc_auth'::regnamespace AND p.proname <> 'allow' ORDER BY 1 DESC LIMIT 1";
    assert_eq!(place.ask(made), "t|t|t|t");
}

#[test]
fn the_same_sql_is_written_once() {
    let place = project();
    place.svc(&["generate", "notify"]).good();
    let words = place.svc(&["generate", "notify"]).bad();
    assert!(
        words.contains("_svc_notify.sql already contains this SQL"),
        "{words}"
    );
    // The function is there, so that a further table gets its trigger alone.
    let path = place
        .svc(&["generate", "notify", "--table", "app.tb_note"])
        .good();
    let text = place.read(path.trim());
    assert!(
        text.contains("ON \"app\".\"tb_note\"") && !text.contains("CREATE OR REPLACE FUNCTION"),
        "{text}"
    );
}
