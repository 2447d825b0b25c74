//! The default complexity admits usual filters, and a refusal says what is too much.

use super::app;

/// A list of 20 with two nested lists.
#[tokio::test]
async fn an_ordinary_query_is_answered() {
    let app = app().await;
    let reply =
        app.query("{ users { id name posts { id title } first: posts(limit: 20) { id author { name } } } }").await;
    reply.data();
}

#[tokio::test]
async fn a_refusal_names_the_costliest_field_and_the_setting() {
    let app = app().await;
    for (document, costliest) in [
        (
            "{ user(id: 1) { id } few: users(limit: 600) { id mine: posts { id title } } }",
            "`few.mine` with 24600",
        ),
        (
            "{ users(limit: 1000) { id name tags address { city } pets { name } meta } }",
            "`users` with 12001",
        ),
        (
            "{ userPages(first: 1000) { nodes { id posts { id } } totalCount } }",
            "`userPages.nodes.posts` with 21000",
        ),
        (
            "fragment F on Query { deep: user(id: 1) { posts(limit: 1000) { author { posts { id } } } } } { ...F }",
            "`deep.posts.author.posts` with 21000",
        ),
    ] {
        let reply = app.query(document).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_COMPLEX",
            "{document}: {}",
            reply.text
        );
        let message = reply.message();
        assert!(
            message.contains("at most 10000 is allowed (SVC_LIMIT_COMPLEXITY)"),
            "{message}"
        );
        assert!(
            message.contains(&format!("the costliest field is {costliest};")),
            "{message}"
        );
    }
}
