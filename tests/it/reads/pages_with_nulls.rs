//! Pages have all rows, also those whose key of the order is null though something says that it is
//! not.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_user")]
struct User {
    id: i32,
    #[relation(to = "author_id", aggregate)]
    posts: Many<Post>,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
    #[relation]
    author: Option<One<User>>,
}

/// The title of a task may be null, and that of a note never is.
#[svc_interface(sql_source = "v_entry", fields(id: i32, title: Option<String>, label: String))]
enum Entry {
    Note(Note),
    Task(Task),
}

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    title: String,
    label: String,
}

/// Its label is in another column.
#[svc_type(sql_source = "v_task")]
struct Task {
    id: i32,
    title: Option<String>,
    #[svc(name = "label", stored = "other")]
    tag: String,
}

/// Some ranks cannot be read.
#[svc_type(sql_source = "v_ranked")]
struct Ranked {
    id: i32,
    rank: i32,
}

#[svc::query]
async fn posts() -> Connection<Post>;
#[svc::query]
async fn entries() -> Connection<Entry>;
#[svc::query]
async fn titled(title: Option<String>) -> Vec<Entry>;
#[svc::query]
async fn ranked() -> Connection<Ranked>;

const SQL: &str = r#"
    CREATE TABLE tb_post (id int PRIMARY KEY, author_id int);
    INSERT INTO tb_post VALUES (1, 1), (2, 1), (3, 2), (4, NULL), (5, 9), (6, NULL);
    CREATE VIEW v_user AS SELECT id FROM (VALUES (1), (2)) AS u(id);
    CREATE VIEW v_post AS SELECT * FROM tb_post;
    CREATE VIEW v_note AS SELECT 1 AS id, '{"id": 1, "title": "a", "label": "sea"}'::jsonb AS data;
    CREATE VIEW v_task AS SELECT id, jsonb_build_object('id', id, 'title', title, 'other', 'sea') AS data
        FROM (VALUES (2, 'b'), (3, NULL), (4, NULL)) AS t(id, title);
    CREATE VIEW v_entry AS SELECT 'Note' AS __typename, id, data FROM v_note
        UNION ALL SELECT 'Task', id, data FROM v_task;
    CREATE VIEW v_ranked AS SELECT id, jsonb_build_object('id', id, 'rank', rank) AS data
        FROM (VALUES (1, '"junk"'::jsonb), (2, '"more"'), (3, '1'), (4, '2')) AS r(id, rank);"#;

async fn serve() -> App {
    let url = TestDatabase::shared("pages_with_nulls", SQL).await;
    let queries = queries![posts, entries, titled, ranked];
    App::serve(
        AppOptions::new()
            .database_url(url)
            .auto_camel_case(true)
            .queries(queries),
    )
    .await
}

/// The ids of all pages of two rows, in both directions.
async fn walk(app: &App, field: &str, order: &str) -> [Vec<Value>; 2] {
    let mut walks = [Vec::new(), Vec::new()];
    for (ids, (size, from, end, more)) in walks.iter_mut().zip([
        ("first: 2", "after", "endCursor", "hasNextPage"),
        ("last: 2", "before", "startCursor", "hasPreviousPage"),
    ]) {
        let mut cursor = String::new();
        for _ in 0..9 {
            let page = format!(
                "{{ {field}({size}{cursor}, orderBy: [{order}]) {{ edges {{ cursor node {{ id }} }} pageInfo {{ {end} {more} }} }} }}"
            );
            let mut answer = app.query(&page).await.json()["data"][field].take();
            let rows = answer["edges"]
                .as_array()
                .unwrap_or_else(|| panic!("{page}"))
                .iter();
            let rows = rows.map(|edge| edge["node"]["id"].clone());
            if from == "after" {
                ids.extend(rows);
            } else {
                ids.splice(..0, rows).for_each(drop);
            }
            cursor = format!(", {from}: {}", answer["pageInfo"][end].take());
            if answer["pageInfo"][more] == false {
                break;
            }
        }
    }
    walks
}

#[tokio::test]
async fn an_order_by_a_count_behind_a_null_relation_keeps_all_rows() {
    let app = serve().await;
    let order = "{ author: { postsAggregate: { count: ASC } } }";
    assert_eq!(
        walk(&app, "posts", order).await,
        [(); 2].map(|()| [3, 1, 2, 4, 5, 6].map(Value::from).to_vec())
    );
    let order = "{ author: { postsAggregate: { count: DESC_NULLS_LAST } } }, { id: DESC }";
    assert_eq!(
        walk(&app, "posts", order).await,
        [(); 2].map(|()| [2, 1, 3, 6, 5, 4].map(Value::from).to_vec())
    );
}

#[tokio::test]
async fn a_field_of_an_interface_may_be_null_in_one_member_alone() {
    let app = serve().await;
    for (order, ids) in [
        ("{ title: ASC }", [1, 2, 3, 4]),
        ("{ title: DESC_NULLS_FIRST }", [4, 3, 2, 1]),
    ] {
        assert_eq!(
            walk(&app, "entries", order).await,
            [(); 2].map(|()| ids.map(Value::from).to_vec()),
            "{order}"
        );
    }
}

/// Null asks for all rows where no row is without a value, and here some are, whatever the first
/// member says.
#[tokio::test]
async fn a_null_argument_matches_null_rows_if_one_member_is_nullable() {
    let answer = serve()
        .await
        .query("{ titled(title: null) { id } }")
        .await
        .data();
    assert_eq!(answer["titled"], json!([{ "id": 3 }, { "id": 4 }]));
}

/// Rows of an interface are not filtered by a field that is in different columns.
#[tokio::test]
async fn a_field_that_members_store_differently_is_selected_alone() {
    let app = serve().await;
    let all = app.query("{ entries { nodes { label } } }").await.data();
    assert_eq!(
        all["entries"]["nodes"],
        json!([{"label": "sea"}, {"label": "sea"}, {"label": "sea"}, {"label": "sea"}])
    );
    for arguments in [
        r#"where: { label: { eq: "sea" } }"#,
        "orderBy: [{ label: ASC }]",
    ] {
        let refused = app
            .query(&format!("{{ entries({arguments}) {{ nodes {{ id }} }} }}"))
            .await;
        assert_eq!(
            refused.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{}",
            refused.text
        );
    }
}

#[tokio::test]
async fn rows_with_unreadable_values_are_on_some_page() {
    let app = serve().await;
    assert_eq!(
        walk(&app, "ranked", "{ rank: ASC }").await[0],
        [3, 4, 1, 2].map(Value::from)
    );
}
