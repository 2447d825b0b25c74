//! The service publishes posts and comments.

mod harness;

#[tokio::test]
async fn a_post_is_published_and_read_with_its_author() {
    let service = harness::start().await;
    let users = harness::ask(
        &service,
        r#"{ users(where: { name: { eq: "Ada Lovelace" } }) { id } }"#,
    )
    .await;
    let author = users["data"]["users"][0]["id"].as_str().expect("an author");
    let document = format!(
        r#"mutation {{ createPost(input: {{ authorId: "{author}", title: "Hello", body: "Text" }}) {{
            ... on CreatePostSuccess {{ post {{ title excerpt(length: 2) author {{ name }} }} }}
            ... on CreatePostError {{ message }} }} }}"#
    );
    let answer = harness::ask(&service, &document).await;
    let post = &answer["data"]["createPost"]["post"];
    assert_eq!(post["excerpt"], "Te", "{answer}");
    assert_eq!(post["author"]["name"], "Ada Lovelace", "{answer}");
}

#[tokio::test]
async fn a_post_of_nobody_is_refused() {
    let service = harness::start().await;
    let document = r#"mutation { createPost(input: {
        authorId: "00000000-0000-0000-0000-000000000000", title: "Hello", body: "Text" }) {
            ... on CreatePostError { message code } } }"#;
    let answer = harness::ask(&service, document).await;
    assert_eq!(
        answer["data"]["createPost"]["message"], "there is no such author",
        "{answer}"
    );
}
