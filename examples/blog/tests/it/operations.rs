//! The operations of the folder.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

const CARD: &str = include_str!("../../operations/author_card.graphql");

#[tokio::test]
async fn operations_of_the_folder_are_found_by_name() {
    let database = TestDatabase::new("").await;
    let app = App::serve(blog::with_blog(
        AppOptions::new().database_url(database.url()),
    ))
    .await;
    app.until_ready().await;
    let variables = json!({ "slug": "user-7", "posts": 2 });
    let card = app
        .post(&json!({ "documentId": "AuthorCard", "variables": variables }))
        .await;
    assert_eq!(
        card.data()["author"]["posts"].as_array().map(Vec::len),
        Some(2),
        "{}",
        card.text
    );

    // Another document, so that its fields answer it.
    let ordinary = app
        .query_with(&format!("{CARD} # the fields"), variables)
        .await;
    assert_eq!(card.text, ordinary.text);

    let id = app.query("{ posts(limit: 1) { id } }").await.data()["posts"][0]["id"].clone();
    let page = app
        .post(&json!({ "documentId": "PostPage", "variables": { "id": id } }))
        .await;

    assert!(page.data()["post"]["excerpt"].is_string(), "{}", page.text);
}
