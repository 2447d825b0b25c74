//! The service that is compared with those of other servers, over plain tables.

use serde_json::json;
use svc::Constraint;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{ask_as, sql};

const PAGE: &str = include_str!("../../../docs/coming-from.md");
const ADA: &str = "00000000-0000-0000-0000-00000000000a";
const BOB: &str = "00000000-0000-0000-0000-00000000000b";

#[svc_type(sql_source = "users")]
struct User {
    id: Uuid,
    name: String,
    #[relation(to = "author_id", order_by = "-created_at")]
    posts: Many<Post>,
}

#[svc_type(sql_source = "posts")]
struct Post {
    id: Uuid,
    title: String,
    published: bool,
    created_at: DateTime<Utc>,
    #[relation]
    author: One<User>,
    #[relation(order_by = "created_at")]
    comments: Many<Comment>,
}

#[svc_type(sql_source = "comments")]
struct Comment {
    id: Uuid,
    body: String,
    created_at: DateTime<Utc>,
    #[relation]
    author: One<User>,
}

#[svc::query]
async fn posts() -> Vec<Post>;

#[svc::query]
async fn post(id: Uuid) -> Option<Post>;

#[svc::mutation(function = "add_comment", context = ["user_id"], acts_on = Post(post))]
async fn add_comment(post: Uuid, body: String) -> Comment;

/// A function that gives a row of its table, as those of PostGraphile do.
#[svc::mutation(function = "add_row", context = ["user_id"])]
async fn add_row(post_id: Uuid, body: String) -> Comment;

fn user_id(ctx: &Context<'_>) -> Option<String> {
    ctx.header("x-user-id").map(str::to_owned)
}

fn with_schema(options: AppOptions) -> AppOptions {
    options
        .auto_camel_case(true)
        .queries(queries![posts, post])
        .mutations(mutations![add_comment, add_row])
        .context_value("user_id", |ctx| match user_id(ctx) {
            Some(user) => Ok(Some(user)),
            None => Err(Error::new(ErrorCode::Unauthenticated, "log in")),
        })
        .row_policy::<Post>(|ctx| {
            let published = col("published").eq(true);
            Ok(RowDecision::allow_where(match user_id(ctx) {
                Some(user) => published.or(col("author_id").eq(user)),
                None => published,
            }))
        })
        .constraint(Constraint::new("comments_body_check", "a comment is not empty").field("body"))
}

async fn serve() -> App {
    let rows = format!(
        "INSERT INTO users VALUES ('{ADA}', 'Ada'), ('{BOB}', 'Bob');
         INSERT INTO posts (id, author_id, title, published) VALUES
             ('00000000-0000-0000-0000-000000000001', '{ADA}', 'SQL', true),
             ('00000000-0000-0000-0000-000000000002', '{ADA}', 'More SQL', false);
         CREATE FUNCTION add_row(author uuid, post_id uuid, body text) RETURNS comments LANGUAGE sql AS
             'INSERT INTO comments (post_id, author_id, body) VALUES (post_id, author, body) RETURNING *';"
    );
    let database = TestDatabase::new(&format!("{}{rows}", sql(PAGE, "coming from"))).await;
    App::serve(with_schema(AppOptions::new().database_url(database.url()))).await
}

fn comment(field: &str, post: u8, body: &str) -> String {
    let argument = if field == "addRow" { "postId" } else { "post" };
    format!(
        r#"mutation {{ {field}({argument}: "00000000-0000-0000-0000-00000000000{post}", body: "{body}") {{ id body author {{ name }} }} }}"#
    )
}

#[tokio::test]
async fn the_document_of_the_page_returns_posts_with_comments() {
    let app = serve().await;
    let added = ask_as(&app, BOB, &comment("addComment", 1, "Thanks!")).await;
    assert_eq!(
        added["data"]["addComment"]["author"],
        json!({ "name": "Bob" }),
        "{added}"
    );
    let row = ask_as(&app, BOB, &comment("addRow", 1, "Again")).await;
    assert_eq!(
        row["data"]["addRow"]["author"],
        json!({ "name": "Bob" }),
        "{row}"
    );
    let (_, rest) = PAGE.split_once("```graphql\n").unwrap();
    let (document, _) = rest.split_once("\n```").unwrap();
    let comments = json!([{ "body": "Thanks!", "author": { "name": "Bob" } }, { "body": "Again", "author": { "name": "Bob" } }]);
    let post = json!({ "title": "SQL", "author": { "name": "Ada" }, "comments": comments });
    assert_eq!(app.query(document).await.data(), json!({ "posts": [post] }));
    let own = ask_as(&app, ADA, document).await;
    assert_eq!(own["data"]["posts"][0]["title"], "More SQL", "{own}");
}

#[tokio::test]
async fn invalid_hidden_and_anonymous_comments_are_refused() {
    let app = serve().await;
    let code = |answer: &serde_json::Value| answer["errors"][0]["extensions"]["code"].clone();
    assert_eq!(
        code(&ask_as(&app, BOB, &comment("addComment", 2, "Hm")).await),
        "NOT_FOUND"
    );
    assert_eq!(
        app.query(&comment("addComment", 1, "Hm")).await.code(),
        "UNAUTHENTICATED"
    );
    let empty = ask_as(&app, BOB, &comment("addComment", 1, "")).await;
    assert_eq!(
        empty["errors"][0]["message"], "a comment is not empty",
        "{empty}"
    );
}
