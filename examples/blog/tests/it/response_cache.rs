//! The feed is kept, where a setting says so, and is never older than what it shows.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, eventually};

#[tokio::test]
async fn the_feed_is_kept_until_a_comment_is_added() {
    let database = TestDatabase::new("").await;
    let options = blog::with_blog(AppOptions::new().database_url(database.url()));
    let app = App::serve(options.response_cache(blog::feed::response_cache())).await;

    app.until_ready().await;
    let feed = "{ feed(first: 1, orderBy: [{commentCount: DESC}]) { nodes { id commentCount } } }";
    let users = app.query("{ users(limit: 1) { id } }").await.data();
    eventually(async || {
        app.query(feed).await.data();
        let before = database.statements("tv_post").await;
        app.query(feed).await.data();
        let after = database.statements("tv_post").await;
        if after == before {
            Ok(())
        } else {
            Err("it is read each time".to_owned())
        }
    })
    .await;

    let first = app.query(feed).await.data()["feed"]["nodes"][0].clone();
    let create = "mutation ($input: NewComment!) { createComment(input: $input) { id } }";
    let input =
        json!({ "post": first["id"], "author": users["users"][0]["id"], "body": "one more" });

    app.query_with(create, json!({ "input": input }))
        .await
        .data();
    let expected =
        json!({ "id": first["id"], "commentCount": first["commentCount"].as_i64().unwrap() + 1 });

    eventually(async || {
        let found = app.query(feed).await.data()["feed"]["nodes"][0].clone();
        if found == expected {
            Ok(())
        } else {
            Err(found.to_string())
        }
    })
    .await;
}
