//! Texts in columns of the type `uuid`.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    shelf: i32,
    serial: Option<String>,
    #[relation(from = "shelf", to = "shelf", aggregate)]
    beside: Many<Item>,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::query]
async fn stats() -> Aggregate<Item>;

const SQL: &str = "CREATE TABLE tb_item (id int PRIMARY KEY, shelf int NOT NULL, serial uuid);
    INSERT INTO tb_item VALUES (1, 1, 'bbbbbbbb-0000-4000-8000-000000000000'),
      (2, 1, 'aaaaaaaa-0000-4000-8000-000000000000'), (3, 2, 'cccccccc-0000-4000-8000-000000000000'), (4, 3, NULL);
    CREATE VIEW v_item AS SELECT * FROM tb_item;";

#[tokio::test]
async fn uuid_texts_have_a_minimum_and_a_maximum() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![items, stats])).await;
    let text = |letter: &str| format!("{}-0000-4000-8000-000000000000", letter.repeat(8));
    let all = app
        .query("{ stats { count min { serial } max { serial } countDistinct { serial } } }")
        .await
        .data();
    let (least, greatest) = (
        json!({ "serial": text("a") }),
        json!({ "serial": text("c") }),
    );
    let expected =
        json!({ "count": 4, "min": least, "max": greatest, "countDistinct": { "serial": 3 } });
    assert_eq!(all["stats"], expected);
    let (b, c) = (text("b"), text("c"));
    let groups = format!(
        "{{ stats {{ groups(by: [SHELF], having: {{ max: {{ serial: {{ in: [\"{b}\", \"{c}\"] }} }} }}, orderBy: [{{ min: {{ serial: DESC }} }}]) {{
            key {{ shelf }} min {{ serial }} }} }} }}"
    );
    let groups = app.query(&groups).await.data();
    let group = |shelf: i32, letter| json!({ "key": { "shelf": shelf }, "min": { "serial": text(letter) } });
    assert_eq!(
        groups["stats"]["groups"],
        json!([group(2, "c"), group(1, "a")])
    );
    let related = format!(
        "{{ items(where: {{ besideAggregate: {{ max: {{ serial: {{ eq: \"{b}\" }} }} }} }}, orderBy: [{{ besideAggregate: {{ min: {{ serial: ASC }} }} }}, {{ id: ASC }}]) {{ id }} }}"
    );
    assert_eq!(
        app.query(&related).await.data()["items"],
        json!([{ "id": 1 }, { "id": 2 }])
    );
}

#[tokio::test]
async fn a_text_that_postgresql_reads_as_no_uuid_equals_none() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![items, stats])).await;
    let document = "query ($serial: String!) { items(where: {serial: {eq: $serial}}) { id } }";
    let own = "cccccccc-0000-4000-8000-000000000000";
    for (serial, expected) in [
        (own.to_owned(), json!([{ "id": 3 }])),
        (format!("urn:uuid:{own}"), json!([])),
        (format!("URN:UUID:{own}"), json!([])),
        ("c".to_owned(), json!([])),
        (own.to_uppercase(), json!([{ "id": 3 }])),
    ] {
        let reply = app.query_with(document, json!({ "serial": serial })).await;
        assert_eq!(reply.data()["items"], expected, "{serial}");
    }
}
