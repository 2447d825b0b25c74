//! Rules of authorization hold for each event of a planned subscription.

use serde_json::json;
use svc::authz::{OperationType, RowDecision};
use svc::db::{SessionVariables, col};
use svc::futures_util::future::join_all;
use svc::futures_util::{StreamExt as _, stream};
use svc::prelude::*;
use svc::sqlx::{self, PgPool};
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{Log, TestDatabase, eventually};

use super::service::{Post, Posts, assert_only_reads, assert_silent, next, start};

fn by_tenant(ctx: &Context<'_>) -> Result<RowDecision> {
    Ok(match ctx.header("x-tenant") {
        Some(tenant) => RowDecision::allow_where(col("tenant").eq(tenant)),
        None => RowDecision::deny(),
    })
}

fn of(tenant: &str, document: &str) -> Subscription {
    Subscription::new(document)
        .header("x-tenant", tenant)
        .unwrap()
}

const REMOVABLE: &str = "subscription { removable { title } }";

#[tokio::test]
async fn a_deletion_after_a_move_is_not_reported_to_the_former_tenant() {
    let database = Posts::database().await;
    let options = Posts::of(&database).row_policy::<Post>(by_tenant);
    let service = start(options).await;
    let mut a = service.subscribe(of("a", REMOVABLE)).await.unwrap();
    let mut b = service.subscribe(of("b", REMOVABLE)).await.unwrap();
    database
        .execute("UPDATE tb_post SET title = 'of a' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut a).await,
        json!({"data": {"removable": {"title": "of a"}}})
    );
    assert_silent(&mut b).await;
    database
        .execute("UPDATE tb_post SET tenant = 'b', title = 'of b' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut b).await,
        json!({"data": {"removable": {"title": "of b"}}})
    );
    database.execute("DELETE FROM tb_post WHERE id = 1").await;
    let deleted = json!({"data": {"removable": null}, "extensions": {"deleted": {"id": "1"}}});
    assert_eq!(next(&mut b).await, deleted);
    assert_silent(&mut a).await;
}

#[tokio::test]
async fn a_deletion_directly_after_a_move_is_not_reported_either() {
    let database = Posts::database().await;
    let service = start(Posts::of(&database).row_policy::<Post>(by_tenant)).await;
    let mut a = service.subscribe(of("a", REMOVABLE)).await.unwrap();
    database
        .execute("UPDATE tb_post SET title = 'of a' WHERE id = 1")
        .await;
    next(&mut a).await;
    // Nobody asks for the next answer in between, so both wait together.
    database
        .execute("UPDATE tb_post SET tenant = 'b' WHERE id = 1")
        .await;
    database.execute("DELETE FROM tb_post WHERE id = 1").await;
    assert_silent(&mut a).await;
}

#[tokio::test]
async fn a_deletion_after_a_change_is_reported_if_its_event_names_the_tenant() {
    let database = Posts::database().await;
    let service = start(Posts::of(&database).row_policy::<Post>(by_tenant)).await;
    let mut a = service.subscribe(of("a", REMOVABLE)).await.unwrap();
    let change_and_delete = |id: i32, change: &str| {
        format!(
            "BEGIN; UPDATE tb_post SET {change} WHERE id = {id}; DELETE FROM tb_post WHERE id = {id}; COMMIT"
        )
    };
    database
        .execute(
            "UPDATE tb_post SET title = 'held'; INSERT INTO tb_post VALUES (4, 'held', 1, 'a')",
        )
        .await;
    for _ in [1, 2, 4] {
        assert_eq!(
            next(&mut a).await,
            json!({"data": {"removable": {"title": "held"}}})
        );
    }
    // The trigger does not name the column that the policy compares.
    database
        .execute(&change_and_delete(1, "title = 'gone'"))
        .await;
    assert_silent(&mut a).await;
    let naming = "DROP TRIGGER post_changed ON tb_post; CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE \
        ON tb_post FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'author_id', 'tenant')";
    database.execute(naming).await;
    database
        .execute(&change_and_delete(2, "title = 'gone'"))
        .await;
    let deleted = json!({"data": {"removable": null}, "extensions": {"deleted": {"id": "2"}}});
    assert_eq!(next(&mut a).await, deleted);
    // It was another tenant's when it was deleted.
    database
        .execute(&change_and_delete(4, "tenant = 'b'"))
        .await;
    assert_silent(&mut a).await;
}

/// Two triggers of a table report a deletion, and only the first names the tenant of the row.
#[tokio::test]
async fn a_second_event_of_a_forbidden_deletion_reveals_nothing() {
    let database = Posts::database().await;
    let service = start(Posts::of(&database).row_policy::<Post>(by_tenant)).await;
    let mut a = service.subscribe(of("a", REMOVABLE)).await.unwrap();
    database
        .execute("UPDATE tb_post SET title = 'of a' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut a).await,
        json!({"data": {"removable": {"title": "of a"}}})
    );
    for payload in [
        r#"{"id": 1, "op": "delete", "tenant": "b"}"#,
        r#"{"id": 1, "op": "delete"}"#,
    ] {
        database
            .execute(&format!("SELECT pg_notify('post_changed', '{payload}')"))
            .await;
    }
    assert_silent(&mut a).await;
}

/// Reads of posts wait for a lock after their snapshot was taken, and events say whose a post is.
const HELD: &str = "
    CREATE OR REPLACE VIEW v_sub_post AS WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(1))
        SELECT p.id, p.title, p.author_id, p.tenant FROM tb_post p, held;
    DROP TRIGGER post_changed ON tb_post; CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE ON tb_post
        FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'tenant');";

/// Waits until a read waits for the lock.
async fn until_held(pool: &PgPool) {
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    eventually(async || {
        match sqlx::query_scalar::<_, i64>(waiting)
            .fetch_one(pool)
            .await
            .unwrap()
        {
            0 => Err("nothing waits for the lock".to_owned()),
            _ => Ok(()),
        }
    })
    .await;
}

/// Changes the first post, has `meanwhile` run while its change is read, and waits until its events
/// have arrived. Returns the subscription of the first tenant, which was sent the change.
async fn while_read(database: &TestDatabase, meanwhile: &str) -> (TestService, Subscribed) {
    database.execute(HELD).await;
    let service = start(Posts::of(database).row_policy::<Post>(by_tenant)).await;
    let mut a = service.subscribe(of("a", REMOVABLE)).await.unwrap();
    let mut witness = service
        .subscribe(of("a", "subscription { noted { id } }"))
        .await
        .unwrap();
    let pool = database.pool().await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("SELECT pg_advisory_xact_lock(1)")
        .execute(&mut *holder)
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'of a' WHERE id = 1")
        .await;
    let reading = tokio::spawn(async move { (next(&mut a).await, a) });
    until_held(&pool).await;
    database.execute(meanwhile).await;
    database
        .execute(r#"SELECT pg_notify('note_changed', '{"id": 2}')"#)
        .await;
    assert_eq!(
        next(&mut witness).await,
        json!({"data": {"noted": {"id": 2}}})
    );
    holder.rollback().await.unwrap();
    let (answer, a) = reading.await.unwrap();
    assert_eq!(answer, json!({"data": {"removable": {"title": "of a"}}}));
    (service, a)
}

#[tokio::test]
async fn a_row_moved_during_its_read_is_not_reported_as_deleted() {
    let database = Posts::database().await;
    let (_service, mut a) =
        while_read(&database, "UPDATE tb_post SET tenant = 'b' WHERE id = 1").await;
    // The event of the deletion does not say whose the row was.
    let unnamed = "DROP TRIGGER post_changed ON tb_post; CREATE TRIGGER post_changed AFTER DELETE ON tb_post \
        FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'author_id'); DELETE FROM tb_post WHERE id = 1";
    database.execute(unnamed).await;
    assert_silent(&mut a).await;
}

#[tokio::test]
async fn a_row_deleted_during_its_first_read_is_reported_as_deleted() {
    let database = Posts::database().await;
    let (_service, mut a) = while_read(&database, "DELETE FROM tb_post WHERE id = 1").await;
    let deleted = json!({"data": {"removable": null}, "extensions": {"deleted": {"id": "1"}}});
    assert_eq!(next(&mut a).await, deleted);
}

#[tokio::test]
async fn equal_rules_share_one_read_and_different_rules_do_not() {
    let database = Posts::database().await;
    let service = start(Posts::of(&database).row_policy::<Post>(by_tenant)).await;
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for tenant in ["a", "b", "a", "b", "a"] {
        let answers = service
            .subscribe(of(tenant, "subscription { changed { title } }"))
            .await
            .unwrap();
        let subscribed = if tenant == "a" { &mut of_a } else { &mut of_b };
        subscribed.push(answers);
    }
    let before = database.statements("v_sub_post").await;
    database
        .execute("UPDATE tb_post SET title = 'seen' WHERE id = 1")
        .await;
    // Those of a tenant ask at once: who asks a second later reads again.
    for answer in join_all(of_a.iter_mut().map(next)).await {
        assert_eq!(answer, json!({"data": {"changed": {"title": "seen"}}}));
    }
    assert_only_reads(&mut of_b, &database, before, 2).await;
    assert_eq!(
        database.statements("v_sub_post").await - before,
        2,
        "one for each tenant"
    );
}

#[tokio::test]
async fn the_filter_of_an_authorizer_holds_for_each_event() {
    let database = Posts::database().await;
    let options = Posts::of(&database).authorizer(async |request: AuthorizationRequest| {
        let tenant = request.context().header("x-tenant").map(str::to_owned);
        tenant.map_or_else(AuthorizationDecision::deny, |tenant| {
            AuthorizationDecision::allow_filtered([("tenant", tenant)])
        })
    });
    let service = start(options).await;
    let refused = service
        .subscribe(Subscription::new(REMOVABLE))
        .await
        .unwrap_err();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN");
    let mut b = service.subscribe(of("b", REMOVABLE)).await.unwrap();
    database
        .execute("UPDATE tb_post SET title = 'of a' WHERE id = 1")
        .await;
    assert_silent(&mut b).await;
    database
        .execute("UPDATE tb_post SET title = 'of b' WHERE id = 3")
        .await;
    assert_eq!(
        next(&mut b).await,
        json!({"data": {"removable": {"title": "of b"}}})
    );
}

#[svc::subscription]
fn greetings() -> impl Stream<Item = &'static str> {
    stream::iter(["hello"])
}

/// The titles that the function reads itself.
#[svc::subscription]
async fn read(ctx: &Context<'_>) -> Result<impl Stream<Item = Post> + use<>> {
    Ok(stream::iter(ctx.db().find::<Post>().await?))
}

/// The events of a function have no filter: the authorizer decides about the whole of it. Its reads
/// by `ctx.db()` have one all the same, where its events are such rows.
#[tokio::test]
async fn a_filter_for_a_subscription_with_a_body_is_logged_and_ignored() {
    let log = Log::start();
    let database = Posts::database().await;
    let policy =
        async |_: AuthorizationRequest| AuthorizationDecision::allow_filtered([("tenant", "b")]);
    let options = Posts::with(
        AppOptions::new().subscriptions(subscriptions![greetings, read]),
        &database,
    );
    let service = TestService::start(options.authorizer(policy))
        .await
        .unwrap();
    let told: Vec<_> = service
        .subscribe(Subscription::new("subscription { greetings }"))
        .await
        .unwrap()
        .collect()
        .await;
    assert_eq!(told, [json!({"data": {"greetings": "hello"}})]);
    log.has("returned a filter for a subscription with a body")
        .await;
    assert!(
        log.text().contains("Subscription.greetings"),
        "{}",
        log.text()
    );
    let told: Vec<_> = service
        .subscribe(Subscription::new("subscription { read { title } }"))
        .await
        .unwrap()
        .collect()
        .await;
    assert_eq!(told, [json!({"data": {"read": {"title": "t3"}}})]);
}

#[tokio::test]
async fn session_variables_of_the_subscriber_are_set_for_each_read() {
    let database = Posts::database().await;
    database
        .execute(
            "CREATE OR REPLACE VIEW v_sub_post AS SELECT p.id, p.title, p.author_id, p.tenant FROM tb_post p \
                      WHERE tenant = current_setting('app.tenant', true)",
        )
        .await;
    let variables = SessionVariables::new().header("app.tenant", "x-tenant");
    let options = Posts::of(&database)
        .session_variables(variables)
        .allow_unbound_policies(true);
    let service = start(options).await;
    let mut a = service
        .subscribe(of("a", "subscription { changed { title } }"))
        .await
        .unwrap();
    let mut b = service
        .subscribe(of("b", "subscription { changed { title } }"))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'mine' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut a).await,
        json!({"data": {"changed": {"title": "mine"}}})
    );
    assert_silent(&mut b).await;
}

/// The id of a deleted row is sent to subscribers that may have ids.
#[tokio::test]
async fn a_deletion_reveals_no_gated_id() {
    #[svc_type(sql_source = "v_sub_post", authorize_fields = ["id"])]
    struct Numbered {
        id: i32,
        title: String,
    }

    #[svc::subscription(channel = "post_changed")]
    async fn numbered() -> Option<Numbered>;

    let may_have_ids = async |request: AuthorizationRequest| {
        let is_open = request.operation_type() != OperationType::Field;
        Ok::<_, Error>(is_open || request.context().header("x-tenant") == Some("admin"))
    };
    let database = Posts::database().await;
    let options = Posts::of(&database)
        .subscriptions(subscriptions![numbered])
        .authorizer(may_have_ids);
    let service = start(options).await;
    let document = "subscription { numbered { title } }";
    let mut anybody = service.subscribe(of("a", document)).await.unwrap();
    let mut admin = service.subscribe(of("admin", document)).await.unwrap();
    database
        .execute("UPDATE tb_post SET title = 'new' WHERE id = 1")
        .await;
    for answers in [&mut anybody, &mut admin] {
        assert_eq!(
            next(answers).await,
            json!({"data": {"numbered": {"title": "new"}}})
        );
    }
    database.execute("DELETE FROM tb_post WHERE id = 1").await;
    let deleted = json!({"data": {"numbered": null}, "extensions": {"deleted": {"id": "1"}}});
    assert_eq!(next(&mut admin).await, deleted);
    assert_silent(&mut anybody).await;
}
