//! The blog explains how it answers: the book's example, and the index that it lacks.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Environment, SvcConfig};
use svc_tests::{App, TestDatabase};

const QUERY: &str = r#"{ posts(where: {title: {eq: "Hello"}}, orderBy: [{createdAt: DESC}]) { title author { name } } }"#;

async fn ask(app: &App) -> Value {
    app.post(&json!({ "query": QUERY, "extensions": { "explain": true } }))
        .await
        .json()
}

#[tokio::test]
async fn the_hint_names_the_index_until_it_is_there() {
    let database = TestDatabase::new("").await;
    let app = App::serve(blog::with_blog(
        AppOptions::new().database_url(database.url()),
    ))
    .await;
    app.until_ready().await;
    let entry = ask(&app).await["extensions"]["explain"][0].clone();
    assert_eq!(
        (&entry["field"], &entry["way"]),
        (&json!("Query.posts"), &json!("planned"))
    );
    let index = "CREATE INDEX ON public.tb_post (title)";
    assert_eq!(
        entry["hints"],
        json!([{ "message": "public.tb_post has no index for the filter on title", "sql": index }])
    );
    database.execute(index).await;
    assert_eq!(
        ask(&app).await["extensions"]["explain"][0]["hints"],
        json!([])
    );
    let production = SvcConfig {
        environment: Environment::Production,
        ..SvcConfig::default()
    };

    let options = AppOptions::new()
        .config(production)
        .database_url(database.url());
    let app = App::serve(blog::with_blog(options)).await;
    app.until_ready().await;

    assert_eq!(ask(&app).await, json!({ "data": { "posts": [] } }));
}
