//! A tree: parents, children, and the way from the root.

use serde_json::json;
use svc::prelude::*;
use svc::scalar::LTree;

use super::serve;

#[svc_type(sql_source = "v_category")]
struct Category {
    id: Uuid,
    name: String,
    path: LTree,
    level: i32,
    #[relation]
    parent: Option<One<Category>>,
    #[relation(to = "parent_id", order_by = "name")]
    children: Many<Category>,
    #[relation(
        through = "v_category_above",
        here = "category_id",
        there = "above_id",
        order_by = "level"
    )]
    above: Many<Category>,
}

#[svc::query]
async fn categories() -> Vec<Category>;

#[svc::mutation(function = "app.move_category")]
async fn move_category(id: Uuid, parent: Option<Uuid>) -> Category;

fn with_categories(options: AppOptions) -> AppOptions {
    options
        .queries(queries![categories])
        .mutations(mutations![move_category])
}

const ROWS: &str = "INSERT INTO tb_category (name) VALUES ('Garden'), ('House');
    INSERT INTO tb_category (name, parent_id) SELECT 'Tools', id FROM tb_category WHERE name = 'Garden';
    INSERT INTO tb_category (name, parent_id) SELECT 'Rakes', id FROM tb_category WHERE name = 'Tools';";

#[tokio::test]
async fn a_category_moves_with_its_descendants() {
    let (app, _database) = serve("tree", ROWS, with_categories).await;
    let rows = "{ categories(orderBy: [{ name: ASC }]) { id name path level above { name } children { name } } }";
    let found = app.query(rows).await.data()["categories"].clone();
    let [garden, house, rakes, tools] = [&found[0], &found[1], &found[2], &found[3]];
    assert_eq!(
        rakes["above"],
        json!([{ "name": "Garden" }, { "name": "Tools" }])
    );
    assert_eq!(
        (&garden["children"], &garden["level"]),
        (&json!([{ "name": "Tools" }]), &json!(1))
    );
    let below = format!(
        "{{ categories(where: {{ path: {{ descendantOf: {} }} }}, orderBy: [{{ path: ASC }}]) {{ name }} }}",
        garden["path"]
    );
    let names = json!([{ "name": "Garden" }, { "name": "Tools" }, { "name": "Rakes" }]);
    assert_eq!(app.query(&below).await.data()["categories"], names);

    let mv = |id: &serde_json::Value, parent: &serde_json::Value| {
        format!("mutation {{ moveCategory(id: {id}, parent: {parent}) {{ above {{ name }} }} }}")
    };
    let moved = app.query(&mv(&tools["id"], &house["id"])).await.data();
    assert_eq!(moved["moveCategory"]["above"], json!([{ "name": "House" }]));
    let found = app.query(rows).await.data()["categories"].clone();
    assert_eq!(
        found[2]["above"],
        json!([{ "name": "House" }, { "name": "Tools" }])
    );
    let refused = app.query(&mv(&house["id"], &rakes["id"])).await;
    assert_eq!(refused.message(), "a category cannot be moved below itself");
    let root = app
        .query(&format!(
            "mutation {{ moveCategory(id: {}) {{ level }} }}",
            tools["id"]
        ))
        .await
        .data();
    assert_eq!(root["moveCategory"]["level"], 1);
}

#[tokio::test]
async fn the_document_of_the_page_returns_a_category_tree() {
    let (app, _database) = serve("tree", ROWS, with_categories).await;
    let document = r#"{ categories(where: { parent: { name: { eq: "Garden" } } }) {
        name above { name } children { name children { name } } } }"#;
    let tools = json!({ "name": "Tools", "above": [{ "name": "Garden" }], "children": [{ "name": "Rakes", "children": [] }] });
    assert_eq!(
        app.query(document).await.data()["categories"],
        json!([tools])
    );
}
