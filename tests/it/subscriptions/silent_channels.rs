//! Channels of subscriptions that nothing in the database notifies.

use svc::events::{InProcessEvents, SVC_NOTIFY};
use svc::prelude::*;
use svc::testing::{Severity, check_views};
use svc_tests::{App, Log, TestDatabase};

#[svc_type(sql_source = "v_told_note")]
struct ToldNote {
    id: i32,
}

#[svc::query]
async fn told_notes() -> Vec<ToldNote>;

#[svc::subscription(channel = "by_trigger")]
async fn by_trigger() -> ToldNote;
#[svc::subscription(channel = "by_function")]
async fn by_function() -> ToldNote;
#[svc::subscription(channel = "by_notify")]
async fn by_notify() -> ToldNote;
#[svc::subscription(channel = "by (atomic")]
async fn by_atomic() -> ToldNote;

// Misspelt: each lacks the last letter.
#[svc::subscription(channel = "by_functio")]
async fn functio() -> ToldNote;
#[svc::subscription(channel = "by_trigge")]
async fn trigge() -> ToldNote;

const SQL: &str = "
CREATE TABLE tb_note (id int PRIMARY KEY);
CREATE VIEW v_told_note AS SELECT id FROM tb_note;
CREATE TRIGGER note_changed AFTER INSERT ON tb_note FOR EACH ROW EXECUTE FUNCTION svc_notify('by_trigger', 'id');
CREATE FUNCTION tell() RETURNS void LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify('by_function', '{}'); NOTIFY by_notify; END $$;
CREATE FUNCTION tell_atomic() RETURNS void LANGUAGE sql
    BEGIN ATOMIC SELECT pg_notify('by (atomic', '{}'); END;";

/// A trigger function whose channel depends on its table.
const COMPUTED: &str = "
CREATE FUNCTION tell_any() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_notify(TG_TABLE_NAME || '_changed', '{}'); RETURN NULL; END $$;";

async fn database() -> TestDatabase {
    TestDatabase::new(&format!("{SVC_NOTIFY}{SQL}")).await
}

fn options() -> AppOptions {
    let config = SvcConfig {
        environment: svc::Environment::Development,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .queries(queries![told_notes])
        .subscriptions(subscriptions![
            by_trigger,
            by_function,
            by_notify,
            by_atomic,
            functio,
            trigge
        ])
}

/// The subscriptions and channels of the hints.
async fn silent(options: AppOptions, database: &TestDatabase) -> Vec<(String, String)> {
    let found = check_views(&options, &database.url()).await.unwrap();
    let silent = found.into_iter().map(|finding| {
        assert_eq!(finding.severity, Severity::Hint, "{finding}");
        let remedy = format!("svc_notify('{}')", finding.source);
        assert!(finding.remedy.contains(&remedy), "{finding}");
        (finding.field, finding.source)
    });
    silent.collect()
}

fn of(field: &str, channel: &str) -> (String, String) {
    (format!("Subscription.{field}"), channel.to_owned())
}

#[tokio::test]
async fn a_channel_that_nothing_notifies_is_a_hint() {
    let database = database().await;
    assert_eq!(
        silent(options(), &database).await,
        [of("functio", "by_functio"), of("trigge", "by_trigge")]
    );
}

#[tokio::test]
async fn channels_listed_by_the_program_are_not_checked() {
    let database = database().await;
    assert_eq!(
        silent(options().event_channels(["by_trigge"]), &database).await,
        [of("functio", "by_functio")]
    );
}

#[tokio::test]
async fn channels_of_other_sources_are_not_checked() {
    let database = database().await;
    let options = options().event_source(InProcessEvents::new());
    assert_eq!(silent(options, &database).await, []);
}

#[tokio::test]
async fn a_trigger_that_computes_its_channel_may_notify_any() {
    let database = database().await;
    database.execute(COMPUTED).await;
    assert_eq!(silent(options(), &database).await, []);
}

#[tokio::test]
async fn the_log_names_a_channel_that_nothing_notifies() {
    let (log, database) = (Log::start(), database().await);
    let _app = App::serve(options().database_url(database.url())).await;
    log.has(
        "the database may not fit the schema source=\"by_trigge\" field=\"Subscription.trigge\"",
    )
    .await;
    assert!(
        !log.text().contains("source=\"by_trigger\""),
        "{}",
        log.text()
    );
}
