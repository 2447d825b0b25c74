//! Relations: fields that lead to rows of other views, over the three kinds of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, agreed_data, three_views};

/// The same three types over views of one kind.
macro_rules! blog {
    ($kind:ident, $user:literal, $post:literal, $note:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $user, sql_source = $user)]
            pub(super) struct User {
                pub(super) id: Uuid,
                pub(super) name: String,
                pub(super) age: Option<i32>,
                #[relation(to = "author_id")]
                pub(super) posts: Many<Post>,
                /// Self-reference: who leads.
                #[relation(from = "lead_id")]
                pub(super) lead: Option<One<User>>,
            }

            #[svc_type]
            impl User {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(name = $post, sql_source = $post)]
            pub(super) struct Post {
                pub(super) id: Uuid,
                pub(super) title: String,
                pub(super) views: i32,
                #[relation]
                pub(super) author: One<User>,
                #[relation(to = "post_id")]
                pub(super) notes: Many<Note>,
            }

            #[svc_type]
            impl Post {
                async fn slow_title(&self) -> String {
                    tokio::task::yield_now().await;
                    format!("slow {}", self.title)
                }
            }

            #[svc_type(name = $note, sql_source = $note)]
            pub(super) struct Note {
                pub(super) id: i32,
                pub(super) body: String,
                #[relation]
                pub(super) author: Option<One<User>>,
                #[relation]
                pub(super) post: One<Post>,
            }

            #[svc::query]
            pub(super) async fn users() -> Vec<User>;
            #[svc::query]
            pub(super) async fn posts() -> Vec<Post>;
            #[svc::query]
            pub(super) async fn notes() -> Vec<Note>;
            #[svc::query]
            pub(super) async fn post(id: Uuid) -> Option<Post>;

            /// Rows in hand: relations start from the keys of the values.
            #[svc::query]
            pub(super) async fn made(ctx: &Context<'_>) -> Result<Vec<Post>> {
                let mut posts = ctx.db().find::<Post>().order_by(asc("title")).await?;
                let title = "made".to_owned();
                let nobody = Uuid::nil();
                let author = One::new(posts[0].author.key().unwrap_or_default());
                posts.push(Post {
                    id: nobody,
                    title,
                    views: 0,
                    author,
                    notes: Many::new(nobody),
                });
                Ok(posts)
            }

            #[svc::query]
            pub(super) async fn by_author(ctx: &Context<'_>, name: String) -> Result<Find<Post>> {
                Ok(ctx
                    .db()
                    .find::<Post>()
                    .filter(col("author.name").eq(name))
                    .order_by(asc("author.name")))
            }

            #[svc::query]
            pub(super) async fn noted(ctx: &Context<'_>, part: String) -> Result<i64> {
                ctx.db()
                    .find::<Post>()
                    .filter(col("notes").some(col("body").contains(part)))
                    .count()
                    .await
            }
        }
    };
}

blog!(columns, "c_user", "c_post", "c_note");
blog!(data, "d_user", "d_post", "d_note");
blog!(table, "tv_user", "tv_post", "tv_note");

const SQL: &str = r"
CREATE TABLE tb_user (id uuid PRIMARY KEY, name text NOT NULL, age int, lead_id uuid);
CREATE TABLE tb_post (id uuid PRIMARY KEY, title text NOT NULL, views int NOT NULL, author_id uuid NOT NULL);
CREATE TABLE tb_note (id int PRIMARY KEY, body text NOT NULL, author_id uuid, post_id uuid NOT NULL);
INSERT INTO tb_user SELECT ('00000000-0000-0000-0000-0000000000a' || n)::uuid, 'user ' || n, nullif(n, 3) * 10,
  CASE WHEN n > 1 THEN '00000000-0000-0000-0000-0000000000a1'::uuid END FROM generate_series(1, 4) n;
INSERT INTO tb_post SELECT ('00000000-0000-0000-0000-0000000000b' || n)::uuid, 'post ' || n, n * 7 % 5,
  ('00000000-0000-0000-0000-0000000000a' || n % 3 + 1)::uuid FROM generate_series(1, 6) n;
INSERT INTO tb_note SELECT n, 'note ' || n, CASE WHEN n % 4 > 0 THEN ('00000000-0000-0000-0000-0000000000a' || n % 4)::uuid END,
  ('00000000-0000-0000-0000-0000000000b' || n % 5 + 1)::uuid FROM generate_series(1, 12) n;
";

/// The tables, and the three kinds of views over each.
fn sql() -> String {
    let views = [
        ("user", "id"),
        ("post", "id, author_id"),
        ("note", "id, post_id"),
    ];
    SQL.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

async fn app(kind: &str) -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("relations", &sql()).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let options = match kind {
        "columns" => options.queries({
            use columns::*;
            queries![users, posts, notes, post, made, by_author, noted]
        }),
        "data" => options.queries({
            use data::*;
            queries![users, posts, notes, post, made, by_author, noted]
        }),
        _ => options.queries({
            use table::*;
            queries![users, posts, notes, post, made, by_author, noted]
        }),
    };
    let app = App::serve(options).await;
    (database, app)
}

/// Asks the three kinds the same and gives the one answer they must have.
async fn same(query: &str) -> Value {
    let ask = async |kind| {
        let (_database, app) = app(kind).await;
        app.query(query).await.text
    };
    agreed_data(query, ["columns", "data", "table"], ask).await
}

#[tokio::test]
async fn relations_are_read_at_any_depth() {
    let answer = same(
        "{ posts(orderBy: [{title: ASC}], limit: 2) { title author { name lead { name lead { name } } }
           notes(orderBy: [{id: DESC}], limit: 2) { id author { name } post { title } } } }",
    )
    .await;
    assert_eq!(
        answer,
        json!({"posts": [
            {"title": "post 1", "author": {"name": "user 2", "lead": {"name": "user 1", "lead": null}},
             "notes": [{"id": 10, "author": {"name": "user 2"}, "post": {"title": "post 1"}},
                       {"id": 5, "author": {"name": "user 1"}, "post": {"title": "post 1"}}]},
            {"title": "post 2", "author": {"name": "user 3", "lead": {"name": "user 1", "lead": null}},
             "notes": [{"id": 11, "author": {"name": "user 3"}, "post": {"title": "post 2"}},
                       {"id": 6, "author": {"name": "user 2"}, "post": {"title": "post 2"}}]},
        ]})
    );
}

#[tokio::test]
async fn a_list_takes_its_own_conditions_order_and_page() {
    let answer = same(
        "{ users(orderBy: [{name: ASC}]) { name
             few: posts(where: {views: {gte: 2}}, orderBy: [{views: DESC}], limit: 1) { title views }
             rest: posts(orderBy: [{title: ASC}], offset: 1) { title }
             none: posts(where: {title: {eq: \"nothing\"}}) { __typename } } }",
    )
    .await;
    assert_eq!(
        answer["users"],
        json!([
            {"name": "user 1", "few": [{"title": "post 6", "views": 2}], "rest": [{"title": "post 6"}], "none": []},
            {"name": "user 2", "few": [{"title": "post 4", "views": 3}], "rest": [{"title": "post 4"}], "none": []},
            {"name": "user 3", "few": [{"title": "post 2", "views": 4}], "rest": [{"title": "post 5"}], "none": []},
            {"name": "user 4", "few": [], "rest": [], "none": []},
        ])
    );
}

#[tokio::test]
async fn methods_of_related_rows_run() {
    let answer = same(
        "{ users(orderBy: [{name: ASC}], limit: 2) { shout posts(orderBy: [{title: ASC}], limit: 1) { slowTitle
             notes(orderBy: [{id: ASC}], limit: 1) { body author { shout } } } } }",
    )
    .await;
    assert_eq!(
        answer["users"],
        json!([
            {"shout": "USER 1", "posts": [{"slowTitle": "slow post 3", "notes": [{"body": "note 2", "author": {"shout": "USER 2"}}]}]},
            {"shout": "USER 2", "posts": [{"slowTitle": "slow post 1", "notes": [{"body": "note 5", "author": {"shout": "USER 1"}}]}]},
        ])
    );
}

#[tokio::test]
async fn relations_of_resolved_values_are_read() {
    let answer = same(
        "{ made { title author { name posts(limit: 1, orderBy: [{title: ASC}]) { title } } notes(limit: 1, orderBy: [{id: ASC}]) { id author { name } } } }",
    )
    .await;
    let made = answer["made"].as_array().unwrap();
    assert_eq!(made.len(), 7);
    assert_eq!(
        made[3],
        json!({"title": "post 4", "author": {"name": "user 2", "posts": [{"title": "post 1"}]},
               "notes": [{"id": 3, "author": {"name": "user 3"}}]})
    );
    assert_eq!(
        made[6],
        json!({"title": "made", "author": {"name": "user 2", "posts": [{"title": "post 1"}]}, "notes": []})
    );
}

#[tokio::test]
async fn conditions_and_orders_reach_through_relations() {
    for (arguments, titles) in [
        (
            r#"(where: {author: {name: {eq: "user 1"}}}, orderBy: [{title: ASC}])"#,
            vec!["post 3", "post 6"],
        ),
        (
            r#"(where: {author: {lead: {name: {eq: "user 1"}}}}, orderBy: [{title: ASC}])"#,
            vec!["post 1", "post 2", "post 4", "post 5"],
        ),
        (
            r#"(where: {NOT: {author: {name: {eq: "user 1"}}}}, orderBy: [{title: ASC}])"#,
            vec!["post 1", "post 2", "post 4", "post 5"],
        ),
        (
            r#"(where: {notes: {some: {body: {eq: "note 5"}}}})"#,
            vec!["post 1"],
        ),
        (r#"(where: {notes: {none: {id: {gt: 0}}}})"#, vec!["post 6"]),
        (
            r#"(where: {notes: {every: {id: {gt: 5}}}}, orderBy: [{title: ASC}])"#,
            vec!["post 6"],
        ),
        (
            r#"(where: {notes: {some: {author: {age: {isnull: true}}}}}, orderBy: [{title: ASC}])"#,
            vec!["post 2", "post 3", "post 4"],
        ),
        (
            r#"(where: {author: {posts: {some: {title: {eq: "post 6"}}}}}, orderBy: [{title: ASC}])"#,
            vec!["post 3", "post 6"],
        ),
        (
            r#"(where: {author: {name: {eq: "user 1"}}, title: {eq: "post 3"}})"#,
            vec!["post 3"],
        ),
        (
            "(orderBy: [{author: {name: DESC}}, {title: ASC}], limit: 3)",
            vec!["post 2", "post 5", "post 1"],
        ),
        (
            "(orderBy: [{author: {age: ASC_NULLS_FIRST}}, {title: DESC}], limit: 3)",
            vec!["post 5", "post 2", "post 6"],
        ),
    ] {
        let answer = same(&format!("{{ posts{arguments} {{ title }} }}")).await;
        let found: Vec<_> = answer["posts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|post| post["title"].clone())
            .collect();
        assert_eq!(found, titles, "{arguments}");
    }
    let answer = same(r#"{ byAuthor(name: "user 3") { title } noted(part: "note 1") }"#).await;
    assert_eq!(answer["byAuthor"].as_array().unwrap().len(), 2);
    assert_eq!(answer["noted"], 3);
}

#[tokio::test]
async fn a_tree_is_read_with_one_statement() {
    let (database, app) = app("columns").await;
    let mut before = 0;
    for (query, statements) in [
        // All rows planned: one statement for the root field.
        (
            "{ users(limit: 4) { name posts(limit: 2) { title notes(limit: 2) { body author { name } } } lead { name } } }",
            1,
        ),
        // Whole rows for methods: one statement for each relation, however many parents there are.
        (
            "{ posts(limit: 6) { slowTitle author { name } notes(limit: 5) { body } } }",
            3,
        ),
        (
            "{ posts(limit: 6) { slowTitle author { shout } notes(limit: 2) { author { shout posts(limit: 2) { slowTitle } } } } }",
            5,
        ),
        (
            "{ made { author { name posts(limit: 2) { title } } notes(limit: 2) { body } } }",
            3,
        ),
    ] {
        let reply = app.query(query).await;
        assert!(reply.json().get("errors").is_none(), "{}", reply.text);
        let after = database.statements("FROM \"c_").await;
        assert_eq!(after - before, statements, "{query}");
        before = after;
    }
}

#[tokio::test]
async fn a_dangling_key_is_null_or_an_error_by_its_type() {
    let (database, app) = app("columns").await;
    database
        .execute("DELETE FROM tb_user WHERE name = 'user 2'")
        .await;
    let reply = app.query("{ notes(where: {id: {eq: 2}}) { id author { name } } posts(limit: 1, orderBy: [{title: ASC}]) { author { name } } }").await;
    let json = reply.json();
    assert_eq!(json["data"], Value::Null);
    assert_eq!(json["errors"][0]["path"], json!(["posts", 0, "author"]));
    let reply = app
        .query("{ notes(where: {id: {eq: 2}}) { id author { name } } }")
        .await;
    assert_eq!(reply.data(), json!({"notes": [{"id": 2, "author": null}]}));
}

#[tokio::test]
async fn bad_arguments_of_a_relation_fail_alone() {
    let (_database, app) = app("columns").await;
    for (arguments, part) in [
        ("(limit: -1)", "negative"),
        ("(limit: 100000)", "at most 1000"),
        (r#"(where: {title: {contains: "\u0000"}})"#, "U+0000"),
        ("(where: {title: null})", "isnull"),
    ] {
        let reply = app
            .query(&format!("{{ users {{ posts{arguments} {{ title }} }} }}"))
            .await;
        assert!(
            reply.message().contains(part),
            "{arguments}: {}",
            reply.text
        );
    }
    let reply = app
        .query("{ users { posts(where: {nope: {eq: 1}}) { title } } }")
        .await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
}

#[svc_type(sql_source = "k_box")]
struct Crate {
    id: i32,
    /// The view has no `owner_id`, and no `data` for it.
    #[relation]
    owner: Option<One<columns::User>>,
    /// `k_box` has no `crate_id` either.
    #[relation]
    parts: Many<Crate>,
    #[relation(from = "id", to = "id")]
    itself: One<Crate>,
}

#[svc::query]
async fn crates() -> Vec<Crate>;

/// The log names mistakes in relations.
#[svc::query]
async fn mistakes(ctx: &Context<'_>) -> Vec<String> {
    let posts = || ctx.db().find::<columns::Post>();
    let crates = || ctx.db().find::<Crate>();
    let counts = [
        crates().filter(col("owner.name").eq("x")).count().await,
        crates()
            .filter(col("parts").some(col("id").eq(1)))
            .count()
            .await,
        posts().filter(col("notes").eq("x")).count().await,
        posts().filter(col("author.nope").eq("x")).count().await,
        posts().filter(col("notes.body").eq("note 5")).count().await,
        posts().order_by(asc("notes")).await.map(|_| 0),
        posts().order_by(asc("notes.body")).await.map(|_| 0),
    ];
    counts
        .into_iter()
        .map(|count| count.map_or_else(|error| error.to_string(), |count| count.to_string()))
        .collect()
}

#[tokio::test]
async fn a_missing_key_column_is_named_with_its_fix() {
    let database =
        TestDatabase::new(&(sql() + "CREATE VIEW k_box AS SELECT id FROM tb_note;")).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![crates, mistakes]),
    )
    .await;
    assert_eq!(
        app.query("{ mistakes }").await.data()["mistakes"],
        json!([
            "a relation needs the key `owner_id` of `k_box`, which has neither such a column nor a `data` column; add it to the view, or name another with `#[relation(from = \"…\")]`",
            "a relation needs the key `crate_id` of `k_box`, which has neither such a column nor a `data` column; add it to the view, or name another with `#[relation(to = \"…\")]`",
            "`notes` leads to many rows, which have no one value to compare, to order by or to compute with",
            "`c_user` has neither a column `nope` nor a `data` column with a field of that name",
            "1",
            "`notes` leads to many rows, which have no one value to compare, to order by or to compute with",
            "`notes` leads to many rows, which have no one value to compare, to order by or to compute with",
        ])
    );
    for query in [
        "{ crates { owner { name } } }",
        "{ crates { parts { id } } }",
    ] {
        let reply = app.query(query).await;
        assert_eq!(
            (reply.code(), reply.message()),
            (
                "INTERNAL_SERVER_ERROR".into(),
                "internal server error".into()
            )
        );
    }
    assert_eq!(
        app.query("{ crates(where: {id: {eq: 3}}) { id itself { id } } }")
            .await
            .data(),
        json!({"crates": [{"id": 3, "itself": {"id": 3}}]})
    );
}
