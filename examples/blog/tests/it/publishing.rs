//! Posts are written by functions of the database.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

async fn blog() -> App {
    let database = TestDatabase::new("").await;
    let app = App::serve(blog::with_blog(
        AppOptions::new().database_url(database.url()),
    ))
    .await;
    app.until_ready().await;
    app
}

const CREATE: &str = "mutation ($author: UUID!, $slug: Slug) {
    createPost(input: { author: $author, slug: $slug, title: \"Hello\", body: \"World.\" }) {
        __typename
        ... on CreatePostSuccess { status id post { slug title excerpt(length: 3) author { name } comments { body } } }
        ... on CreatePostError { code message errors { identifier details } }
    }
}";

const UPDATE: &str = "mutation ($id: UUID!, $patch: PostPatch!) {
    updatePost(id: $id, patch: $patch) {
        ... on UpdatePostSuccess { status updatedFields post { title body } }
        ... on UpdatePostError { status code unchanged { title } }
    }
}";

#[tokio::test]
async fn a_post_is_created_changed_and_removed() {
    let app = blog().await;
    let author = app
        .query("{ users(limit: 1, orderBy: [{ slug: ASC }]) { id name } }")
        .await
        .data()["users"][0]
        .clone();

    let new = json!({ "author": author["id"], "slug": "hello" });
    let created = app.query_with(CREATE, new.clone()).await.data()["createPost"].clone();
    let id = created["id"].clone();
    let post = json!({ "slug": "hello", "title": "Hello", "excerpt": "Wor", "author": { "name": author["name"] }, "comments": [] });

    assert_eq!(
        created,
        json!({ "__typename": "CreatePostSuccess", "status": "created", "id": id, "post": post })
    );
    assert_eq!(
        app.query_with(CREATE, new).await.data()["createPost"],
        json!({
            "__typename": "CreatePostError", "code": 409, "message": "this slug is taken",
            "errors": [{ "identifier": "slug_taken", "details": { "field": "slug" } }],
        })
    );

    let nobody = json!({ "author": "00000000-0000-0000-0000-000000000000" });
    assert_eq!(
        app.query_with(CREATE, nobody).await.data()["createPost"]["code"],
        404
    );

    for (patch, answer) in [
        (
            json!({ "title": "Goodbye", "body": "World." }),
            json!({ "status": "updated", "updatedFields": ["title"], "post": { "title": "Goodbye", "body": "World." } }),
        ),
        (
            json!({}),
            json!({ "status": "noop:unchanged", "code": 422, "unchanged": { "title": "Goodbye" } }),
        ),
        (
            json!({ "body": null }),
            json!({ "status": "validation:cleared", "code": 422, "unchanged": { "title": "Goodbye" } }),
        ),
    ] {
        let reply = app
            .query_with(UPDATE, json!({ "id": id, "patch": patch }))
            .await;
        assert_eq!(reply.data()["updatePost"], answer, "{patch}");
    }

    let delete = "mutation ($id: UUID!) { deletePost(id: $id) { ... on DeletePostSuccess { id } ... on DeletePostError { code message } } }";
    let variables = json!({ "id": id });
    assert_eq!(
        app.query_with(delete, variables.clone()).await.data()["deletePost"],
        json!({ "id": id })
    );
    let again = json!({ "code": 404, "message": "there is no such post" });
    assert_eq!(
        app.query_with(delete, variables.clone()).await.data()["deletePost"],
        again
    );

    assert_eq!(
        app.query_with("query ($id: UUID!) { post(id: $id) { id } }", variables)
            .await
            .data()["post"],
        Value::Null
    );
}
