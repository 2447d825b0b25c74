//! Subscriptions get every write, from any client.

use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{App, TestDatabase};
use tokio::time::timeout;

async fn next(answers: &mut Subscribed) -> Value {
    let answer = timeout(Duration::from_secs(120), answers.next()).await;
    answer.expect("an answer").expect("the stream goes on")
}

/// The next comment that is not one of the demo rows, whose events may still be under way.
async fn new_comment(comments: &mut Subscribed) -> Value {
    loop {
        let response = next(comments).await;
        let body = response["data"]["commentAdded"]["body"]
            .as_str()
            .unwrap_or_default();
        if !body.starts_with("Comment ") {
            return response;
        }
    }
}

#[tokio::test]
async fn comments_and_posts_reach_subscribers() {
    let database = TestDatabase::new("").await;
    let service = TestService::start(blog::with_blog(
        AppOptions::new().database_url(database.url()),
    ))
    .await
    .unwrap();

    let app = App::serve_router(service.router()).await;
    app.until_ready().await;
    let found = app
        .query("{ posts(limit: 2) { id } users(limit: 1) { id name } }")
        .await
        .data();
    let (post, other, user) = (
        &found["posts"][0]["id"],
        &found["posts"][1]["id"],
        &found["users"][0],
    );

    let document =
        "subscription ($post: UUID) { commentAdded(post: $post) { body author { name } } }";
    let of_post = Subscription::new(document).variables(json!({ "post": post }));
    let mut of_post = service.subscribe(of_post).await.unwrap();
    let mut of_all = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    let create = "mutation ($input: NewComment!) { createComment(input: $input) { id } }";
    for (post, body) in [(other, "elsewhere"), (post, "here")] {
        let input = json!({ "post": post, "author": user["id"], "body": body });
        app.query_with(create, json!({ "input": input }))
            .await
            .data();
        let added = json!({ "data": { "commentAdded": { "body": body, "author": { "name": user["name"] } } } });
        assert_eq!(new_comment(&mut of_all).await, added);
    }

    assert_eq!(
        new_comment(&mut of_post).await["data"]["commentAdded"]["body"],
        "here"
    );

    let document = "subscription ($id: UUID) { postChanged(id: $id) { title excerpt(length: 3) } }";
    let changed = Subscription::new(document).variables(json!({ "id": post }));
    let mut changed = service.subscribe(changed).await.unwrap();
    let id = post.as_str().unwrap();

    database
        .execute(&format!(
            "UPDATE tb_post SET title = 'By psql', body = 'Hello.' WHERE id = '{id}'"
        ))
        .await;

    assert_eq!(
        next(&mut changed).await,
        json!({ "data": { "postChanged": { "title": "By psql", "excerpt": "Hel" } } })
    );
    app.query(&format!(
        "mutation {{ deletePost(id: \"{id}\") {{ __typename }} }}"
    ))
    .await
    .data();

    assert_eq!(
        next(&mut changed).await["extensions"]["deleted"]["id"],
        *post
    );
}
