//! The client of tests, which needs no socket.

use svc::axum::Router;
use svc::axum::http::StatusCode;
use svc::futures_util::stream;
use svc::prelude::*;
use svc::serde_json::json;
use svc::testing::{Client, Database};

const SCHEMA: &str = "
    CREATE TABLE tb_post (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title text NOT NULL);
    CREATE VIEW v_post AS SELECT id, title FROM tb_post;
    INSERT INTO tb_post (title) VALUES ('First'), ('Second')";

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    title: String,
}

#[svc_input]
struct NewPost {
    title: String,
}

#[svc::query(order_by = "title")]
async fn posts() -> Vec<Post>;

#[svc::mutation(insert = "tb_post")]
async fn create_post(input: NewPost) -> Post;

#[svc::query]
fn me(ctx: &Context<'_>) -> Result<String> {
    Ok(ctx.require_user()?.user_id.clone())
}

#[svc::query]
fn tenant(ctx: &Context<'_>) -> Option<String> {
    ctx.header("x-tenant").map(str::to_owned)
}

#[svc::subscription]
fn countdown(from: i32) -> impl Stream<Item = i32> {
    stream::iter((0..=from).rev())
}

async fn client(database: &Database) -> Client {
    let options = database
        .options()
        .queries(queries![posts, me, tenant])
        .mutations(mutations![create_post]);
    Client::new(options.subscriptions(subscriptions![countdown]))
        .await
        .unwrap()
}

#[svc::test(sql = SCHEMA)]
async fn responses_can_be_inspected(database: Database) -> Result<()> {
    let client = client(&database).await;
    let answer = client.query("{ posts { title } }").await;
    assert_eq!(
        answer.data(),
        &json!({ "posts": [{ "title": "First" }, { "title": "Second" }] })
    );
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.headers()["content-type"].to_str()?.contains("json"));

    let document = "mutation ($title: String!) { create_post(input: { title: $title }) { title } }";
    let answer = client
        .query(document)
        .variables(json!({ "title": "Third" }))
        .await;
    assert_eq!(answer.data()["create_post"]["title"], "Third");
    let answer = client.query(document).variable("title", "Fourth").await;
    assert_eq!(answer.data()["create_post"]["title"], "Fourth");

    let several = "query A { posts { id } } query B { tenant }";
    let answer = client
        .query(several)
        .operation_name("B")
        .header("x-tenant", "north")
        .await;
    assert_eq!(
        answer.read::<std::collections::BTreeMap<String, String>>()["tenant"],
        "north"
    );

    let answer = client.query("{ nothing }").await;
    assert_eq!(answer.code(), "GRAPHQL_VALIDATION_FAILED");
    assert!(answer.message().contains("nothing"), "{}", answer.text());
    assert_eq!(answer.errors().len(), 1);
    Ok(())
}

#[svc::test(sql = SCHEMA)]
async fn a_client_can_act_as_a_user(database: Database) {
    let nobody = client(&database).await;
    let ada = nobody
        .as_user(UserContext::new("ada"))
        .with_header("x-tenant", "north");
    assert_eq!(
        ada.query("{ me tenant }").await.data(),
        &json!({ "me": "ada", "tenant": "north" })
    );
    let answer = nobody.query("{ tenant me }").await;
    assert_eq!(answer.code(), "UNAUTHENTICATED");
}

#[svc::test(sql = SCHEMA)]
async fn statements_are_counted(database: Database) {
    let answer = client(&database)
        .await
        .query("{ posts { title } tenant }")
        .explained()
        .await;
    let statements = answer.statements();
    assert_eq!(statements.len(), 1, "{statements:?}");
    assert!(statements[0].contains("v_post"), "{statements:?}");
}

#[svc::test(sql = SCHEMA)]
async fn subscriptions_need_no_socket(database: Database) {
    let client = client(&database).await;
    let document = "subscription ($from: Int!) { countdown(from: $from) }";
    let mut answers = client
        .query(document)
        .variable("from", 1)
        .subscribe()
        .await
        .unwrap();
    assert_eq!(
        answers.next().await,
        Some(json!({ "data": { "countdown": 1 } }))
    );
    assert_eq!(
        answers.next().await,
        Some(json!({ "data": { "countdown": 0 } }))
    );
    assert_eq!(answers.next().await, None);
    let refused = client
        .query("subscription { nothing }")
        .subscribe()
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "GRAPHQL_VALIDATION_FAILED");
}

#[svc::test(sql = SCHEMA)]
async fn layers_can_be_put_around_the_service(database: Database) {
    let client = client(&database).await;
    let closed = client
        .clone()
        .wrapped(|_| Router::new().fallback(async || (StatusCode::IM_A_TEAPOT, "closed")));
    let answer = closed.query("{ tenant }").await;
    assert_eq!(
        (answer.status(), answer.text()),
        (StatusCode::IM_A_TEAPOT, "closed")
    );
    assert!(client.query("{ tenant }").await.data()["tenant"].is_null());
}

#[test]
fn missing_data_fails_the_test_with_the_response() {
    let outcome = std::thread::spawn(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let database = Database::create(&svc::testing::Setup::new().sql(SCHEMA))
                .await
                .unwrap();
            client(&database).await.query("{ me }").await.data();
        });
    });
    let panic = outcome.join().unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(
        message.starts_with("the answer is not data alone: ")
            && message.contains("UNAUTHENTICATED"),
        "{message}"
    );
}
