//! The service publishes posts and comments. Each test has its own database, with the files of `db/`.

use svc::serde_json::json;
use svc::testing::{Client, Database};

const CREATE: &str = "mutation ($input: CreatePostInput!) { createPost(input: $input) {
    ... on CreatePostSuccess { post { title excerpt(length: 2) author { name } } }
    ... on CreatePostError { message code } } }";

async fn client(database: &Database) -> Client {
    Client::new(app::with_schema(database.options()))
        .await
        .expect("the service starts")
}

#[svc::test(setup = ["db/migrations", "db/schema", "db/seeds"])]
async fn published_posts_have_their_author(database: Database) {
    let client = client(&database).await;
    let users = client
        .query(r#"{ users(where: { name: { eq: "Ada Lovelace" } }) { id } }"#)
        .await;
    let author = &users.data()["users"][0]["id"];
    let input = json!({ "authorId": author, "title": "Hello", "body": "Text" });
    let answer = client.query(CREATE).variable("input", input).await;
    let post = &answer.data()["createPost"]["post"];
    assert_eq!(post["excerpt"], "Te");
    assert_eq!(post["author"]["name"], "Ada Lovelace");
}

#[svc::test(setup = ["db/migrations", "db/schema", "db/seeds"])]
async fn posts_of_unknown_authors_are_rejected(database: Database) {
    let nobody = "00000000-0000-0000-0000-000000000000";
    let input = json!({ "authorId": nobody, "title": "Hello", "body": "Text" });
    let client = client(&database).await;
    let answer = client.query(CREATE).variable("input", input).await;
    assert_eq!(
        answer.data()["createPost"]["message"],
        "there is no such author"
    );
}
