//! Pairs that are written as a list.

use serde_json::json;
use svc::prelude::*;

use super::serve;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    title: String,
    #[relation(
        through = "v_post_tag",
        here = "post_id",
        there = "tag_id",
        order_by = "name"
    )]
    tags: Many<Tag>,
}

#[svc_type(sql_source = "v_tag")]
struct Tag {
    id: Uuid,
    name: String,
    #[relation(
        through = "v_post_tag",
        here = "tag_id",
        there = "post_id",
        order_by = "title"
    )]
    posts: Many<Post>,
}

#[svc::query]
async fn posts() -> Vec<Post>;

#[svc::mutation(function = "app.set_tags")]
async fn set_tags(post: Uuid, tags: Vec<String>) -> Post;

fn with_tags(options: AppOptions) -> AppOptions {
    options
        .queries(queries![posts])
        .mutations(mutations![set_tags])
}

#[tokio::test]
async fn a_list_of_tags_replaces_the_earlier_tags() {
    let rows = "INSERT INTO tb_post (title) VALUES ('Views'), ('Macros');";
    let (app, _database) = serve("many to many", rows, with_tags).await;
    let found = app
        .query("{ posts(orderBy: [{ title: DESC }]) { id } }")
        .await
        .data();
    let views = &found["posts"][0]["id"];
    for tags in [["rust", "sql"], ["sql", "views"]] {
        let set = format!(
            "mutation {{ setTags(post: {views}, tags: {}) {{ tags {{ name }} }} }}",
            json!(tags)
        );
        let set = app.query(&set).await.data();
        assert_eq!(
            set["setTags"]["tags"],
            json!([{ "name": tags[0] }, { "name": tags[1] }])
        );
    }
    let document = r#"{ posts(where: { tags: { some: { name: { in: ["rust", "sql"] } } } }) { title tags { name } } }"#;
    let post = json!({ "title": "Views", "tags": [{ "name": "sql" }, { "name": "views" }] });
    assert_eq!(app.query(document).await.data()["posts"], json!([post]));
}
