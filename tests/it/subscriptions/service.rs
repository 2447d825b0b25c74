//! The services of the tests of subscriptions.

use std::time::Duration;

use serde_json::Value;
use svc::futures_util::StreamExt as _;
use svc::futures_util::future::{join_all, select_all};
use svc::prelude::*;
use svc::testing::{Subscribed, Subscription, TestService};
pub(super) use svc_tests::next_answer as next;
use svc_tests::{App, TestDatabase, eventually};
use tokio::time::timeout;

/// Starts a service, and waits until it is ready and listens to the events of posts.
pub(super) async fn start(options: AppOptions) -> TestService {
    let service = TestService::start(options).await.unwrap();
    until_ready(&service).await;
    until_listening(&service, "subscription { changed { id } }").await;
    service
}

/// Waits until a service has read the catalog: without the types of columns, it cannot compare an
/// event with a policy.
async fn until_ready(service: &TestService) {
    let app = App::serve_router(service.router()).await;
    app.until_ready().await;
}

/// Waits until a service listens to the events of a subscription. A subscriber waits two seconds
/// for that, in which a busy machine may open no connection.
pub(super) async fn until_listening(service: &TestService, document: &str) {
    eventually(async || {
        let subscription = Subscription::new(document).header("x-tenant", "a").unwrap();
        service
            .subscribe(subscription)
            .await
            .map(drop)
            .map_err(|refused| refused.to_string())
    })
    .await;
}

/// A service that needs no database.
pub(super) async fn service(options: AppOptions) -> TestService {
    TestService::start(options.database_url("postgres://nobody@127.0.0.1:1/nothing"))
        .await
        .unwrap()
}

/// All answers to a document.
pub(super) async fn answers(service: &TestService, document: &str) -> Vec<Value> {
    let subscribed = service.subscribe(Subscription::new(document)).await;
    subscribed
        .unwrap_or_else(|refused| panic!("{document} is refused: {refused}"))
        .collect()
        .await
}

/// The answer to a document that gets no stream.
pub(super) async fn refused(service: &TestService, document: &str) -> Value {
    match service.subscribe(Subscription::new(document)).await {
        Ok(_) => panic!("{document} got a stream"),
        Err(refused) => refused,
    }
}

/// No answer comes, as far as one can wait for that.
pub(super) async fn assert_silent(answers: &mut Subscribed) {
    if let Ok(answer) = timeout(Duration::from_millis(300), answers.next()).await {
        panic!("nothing was to come: {answer:?}");
    }
}

/// Waits until so many statements have read posts since there were `before`. No answer comes to
/// the subscribers meanwhile, nor for a while after that.
pub(super) async fn assert_only_reads(
    subscribed: &mut [Subscribed],
    database: &TestDatabase,
    before: i64,
    expected: i64,
) {
    let read = eventually(
        async || match database.statements("v_sub_post").await - before {
            count if count == expected => Ok(()),
            count => Err(format!("{count} statements")),
        },
    );
    tokio::select! {
        (answer, ..) = select_all(subscribed.iter_mut().map(|answers| Box::pin(answers.next()))) => {
            panic!("nothing was to come: {answer:?}")
        }
        () = read => {}
    }
    join_all(subscribed.iter_mut().map(assert_silent)).await;
}

#[svc_type(sql_source = "v_sub_author")]
pub(super) struct Author {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_sub_post")]
pub(super) struct Post {
    id: i32,
    title: String,
    #[relation]
    author: One<Author>,
}

#[svc_type]
impl Post {
    fn loud(&self) -> String {
        self.title.to_uppercase()
    }
}

#[svc::query]
pub(super) async fn sub_posts() -> Vec<Post>;

#[svc::subscription(channel = "post_changed")]
async fn changed(id: Option<i32>, author: Option<i32>, title: Option<String>) -> Post;

#[svc::subscription(channel = "post_changed")]
async fn removable() -> Option<Post>;

/// A post of which the view has a document alone.
#[svc_type(sql_source = "v_sub_note")]
pub(super) struct Note {
    id: i32,
    #[relation]
    author: One<Author>,
}

#[svc::subscription(channel = "note_changed")]
async fn noted(author: Option<i32>) -> Note;

const SQL: &str = "
    CREATE TABLE tb_author (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE tb_post (id int PRIMARY KEY, title text NOT NULL, author_id int NOT NULL, tenant text NOT NULL);
    INSERT INTO tb_author VALUES (1, 'ada'), (2, 'bob');
    INSERT INTO tb_post VALUES (1, 't1', 1, 'a'), (2, 't2', 2, 'a'), (3, 't3', 2, 'b');
    CREATE VIEW v_sub_author AS SELECT id, name FROM tb_author;
    CREATE VIEW v_sub_post AS SELECT id, title, author_id, tenant FROM tb_post;
    CREATE VIEW v_sub_note AS SELECT id, jsonb_build_object('author_id', author_id) AS data FROM tb_post;
    CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE ON tb_post
        FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'author_id');";

/// Posts whose changes are published.
pub(super) struct Posts;

impl Posts {
    pub(super) async fn database() -> TestDatabase {
        TestDatabase::new(&format!("{}{SQL}", svc::events::SVC_NOTIFY)).await
    }

    pub(super) fn of(database: &TestDatabase) -> AppOptions {
        Self::with(AppOptions::new(), database)
    }

    pub(super) fn with(options: AppOptions, database: &TestDatabase) -> AppOptions {
        let options = options
            .database_url(database.url())
            .queries(queries![sub_posts]);
        options.subscriptions(subscriptions![changed, removable, noted])
    }
}

/// A database of posts, and a service with subscriptions to them.
pub(super) async fn started() -> (TestDatabase, TestService) {
    let database = Posts::database().await;
    let service = start(Posts::of(&database)).await;
    (database, service)
}
