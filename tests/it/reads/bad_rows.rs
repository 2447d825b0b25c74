//! One bad row, or one value that is not selected, fails nothing beside it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_writer")]
struct Writer {
    id: Uuid,
    name: String,
    since: DateTime<Utc>,
    #[relation(to = "author_id")]
    notes: Many<Note>,
}

#[svc_type]
impl Writer {
    fn shout(&self) -> Option<String> {
        Some(self.name.to_uppercase())
    }
    async fn waited(&self) -> Option<String> {
        tokio::task::yield_now().await;
        self.shout()
    }
}

/// Everything is in `data`, also the key of the author.
#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    rank: Option<i32>,
    at: Option<DateTime<Utc>>,
    #[relation(from = "author_id")]
    author: Option<One<Writer>>,
}

#[svc_type]
impl Note {
    fn twice(&self) -> Option<i32> {
        self.rank.map(|rank| rank * 2)
    }
}

#[svc::query]
async fn writers() -> Vec<Writer>;
#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
async fn note(id: i32) -> Option<Note>;
#[svc::query]
async fn pages() -> Connection<Note>;
#[svc::query]
async fn writer_pages() -> Connection<Writer>;
#[svc::query]
async fn totals() -> Aggregate<Note>;
#[svc::query]
async fn found(ctx: &Context<'_>) -> Result<Find<Note>> {
    Ok(ctx
        .db()
        .find::<Note>()
        .filter(col("rank").gte(1))
        .order_by(asc("id")))
}

const SQL: &str = r#"
CREATE TABLE tb_writer (id uuid, name text, since timestamptz);
INSERT INTO tb_writer VALUES ('00000000-0000-0000-0000-000000000001', 'Ada', '2024-01-01'),
  ('00000000-0000-0000-0000-000000000002', 'Bea', '2024-01-02'), ('00000000-0000-0000-0000-000000000003', 'Cleo', 'infinity');
CREATE VIEW v_writer AS SELECT * FROM tb_writer;
CREATE TABLE tb_note (data jsonb);
INSERT INTO tb_note VALUES
  ('{"id": 1, "rank": 2, "at": "2024-01-01T00:00:00Z", "author_id": "00000000-0000-0000-0000-000000000001"}'),
  ('{"id": 2, "rank": "junk", "at": "never", "author_id": "junk"}'),
  ('{"id": 3, "rank": 1, "at": "2024-02-29T00:00:00Z", "author_id": "00000000-0000-0000-0000-000000000003"}');
CREATE VIEW v_note AS SELECT data FROM tb_note;
"#;

async fn app() -> App {
    serve(TestDatabase::shared("bad_rows", SQL).await).await
}

async fn serve(url: String) -> App {
    let options = AppOptions::new().database_url(url).auto_camel_case(true);
    App::serve(options.queries(queries![
        writers,
        notes,
        note,
        pages,
        writer_pages,
        totals,
        found
    ]))
    .await
}

/// `data`, and the paths of the errors, which are not the client's fault.
fn parts(reply: &Reply) -> (Value, Value) {
    let json = reply.json();
    let errors = json["errors"].as_array().cloned().unwrap_or_default();
    for error in &errors {
        assert_eq!(
            error["extensions"]["code"], "INTERNAL_SERVER_ERROR",
            "{}",
            reply.text
        );
    }
    (
        json["data"].clone(),
        errors.iter().map(|error| error["path"].clone()).collect(),
    )
}

#[tokio::test]
async fn a_bad_key_fails_its_own_relation() {
    let app = app().await;
    let names = |author: &str| json!([{ "author": { "name": "Ada" } }, { "author": null }, { "author": { "name": author } }]);
    let (data, errors) = parts(
        &app.query("{ notes(orderBy: [{id: ASC}]) { author { name } } }")
            .await,
    );
    assert_eq!(
        (&data["notes"], errors),
        (&names("Cleo"), json!([["notes", 1, "author"]]))
    );
    let (data, errors) = parts(
        &app.query(
            "{ pages(orderBy: [{id: ASC}]) { nodes { author { name } } edges { node { id } } } }",
        )
        .await,
    );
    assert_eq!(
        (&data["pages"]["nodes"], errors),
        (&names("Cleo"), json!([["pages", "nodes", 1, "author"]]))
    );
    let (data, errors) = parts(&app.query("{ note(id: 2) { id author { name } } }").await);
    assert_eq!(
        (data, errors),
        (
            json!({ "note": { "id": 2, "author": null } }),
            json!([["note", "author"]])
        )
    );
    // From rows in hand, with and without methods of the rows that they lead to.
    let (data, errors) = parts(
        &app.query("{ notes(orderBy: [{id: ASC}]) { twice author { name } } }")
            .await,
    );
    let rows = json!([{ "twice": 4, "author": { "name": "Ada" } }, { "twice": null, "author": null }, { "twice": 2, "author": { "name": "Cleo" } }]);
    assert_eq!(
        (&data["notes"], errors),
        (
            &rows,
            json!([["notes", 1, "twice"], ["notes", 1, "author"]])
        )
    );
    let (data, errors) = parts(
        &app.query("{ notes(orderBy: [{id: ASC}]) { author { shout } } }")
            .await,
    );
    let rows = json!([{ "author": { "shout": "ADA" } }, { "author": null }, { "author": { "shout": null } }]);
    assert_eq!(data["notes"], rows);
    assert_eq!(
        errors,
        json!([["notes", 1, "author"], ["notes", 2, "author", "shout"]])
    );
    // The rows that a relation leads to may have bad keys as well.
    let (data, errors) = parts(
        &app.query("{ writers(orderBy: [{name: ASC}]) { name notes { id } } }")
            .await,
    );
    let rows = json!([
        { "name": "Ada", "notes": [{ "id": 1 }] }, { "name": "Bea", "notes": [] }, { "name": "Cleo", "notes": [{ "id": 3 }] }
    ]);
    assert_eq!((&data["writers"], errors), (&rows, json!([])));
}

/// With the setting off, `\.` in the pattern of a time would be any character.
#[tokio::test]
async fn bad_values_are_read_past_without_standard_conforming_strings() {
    let database = TestDatabase::copy_of("bad_rows", SQL).await;
    database
        .execute(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database()); END $$;
             INSERT INTO tb_note VALUES ('{\"id\": 4, \"at\": \"2024-01-01T00:00:00x5Z\"}')",
        )
        .await;
    let app = serve(database.url()).await;
    let notes = "notes(where: {at: {lt: \"2024-02-01T00:00:00Z\"}}) { id }";
    let (data, errors) = parts(&app.query(&format!("{{ {notes} }}")).await);
    assert_eq!((&data["notes"], errors), (&json!([{ "id": 1 }]), json!([])));
}

#[tokio::test]
async fn filters_and_orders_read_past_a_bad_value() {
    let app = app().await;
    for (arguments, expected) in [
        (
            "where: {rank: {gte: 1}}, orderBy: [{id: ASC}]",
            json!([1, 3]),
        ),
        ("where: {rank: {in: [1]}}", json!([3])),
        ("where: {at: {lt: \"2024-02-01T00:00:00Z\"}}", json!([1])),
        ("where: {author: {name: {eq: \"Cleo\"}}}", json!([3])),
        ("orderBy: [{rank: ASC}]", json!([3, 1, 2])),
        ("orderBy: [{at: DESC_NULLS_LAST}], limit: 2", json!([3, 1])),
    ] {
        let (data, errors) = parts(
            &app.query(&format!(
                "{{ notes({arguments}) {{ id }} pages({}) {{ nodes {{ id }} }} }}",
                arguments.replace("limit", "first")
            ))
            .await,
        );
        let ids = |rows: &Value| {
            rows.as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].clone())
                .collect::<Value>()
        };
        assert_eq!(
            (ids(&data["notes"]), errors),
            (expected.clone(), json!([])),
            "{arguments}"
        );
        assert_eq!(ids(&data["pages"]["nodes"]), expected, "{arguments}");
    }
    assert_eq!(
        app.query("{ found { id } }").await.data()["found"],
        json!([{ "id": 1 }, { "id": 3 }])
    );
    let (data, errors) = parts(
        &app.query("{ notes(orderBy: [{rank: DESC_NULLS_LAST}]) { rank at } }")
            .await,
    );
    assert_eq!(data["notes"][2], json!({ "rank": null, "at": null }));
    assert_eq!(errors, json!([["notes", 2, "rank"], ["notes", 2, "at"]]));
}

#[tokio::test]
async fn aggregates_fail_where_a_bad_value_counts() {
    let app = app().await;
    let (data, errors) = parts(
        &app.query("{ totals { count sum { rank } max { id at } } }")
            .await,
    );
    assert_eq!(
        data["totals"],
        json!({ "count": 3, "sum": { "rank": null }, "max": { "id": 3, "at": null } })
    );
    assert_eq!(
        errors,
        json!([["totals", "sum", "rank"], ["totals", "max", "at"]])
    );
    let (data, errors) = parts(
        &app.query("{ totals(where: {rank: {gte: 1}}) { count sum { rank } } }")
            .await,
    );
    assert_eq!(
        (&data["totals"], errors),
        (&json!({ "count": 2, "sum": { "rank": 3 } }), json!([]))
    );
    let (data, errors) = parts(
        &app.query("{ totals { groups(by: [RANK]) { count key { rank } } } }")
            .await,
    );
    let groups = json!([
        { "count": 1, "key": { "rank": 1 } }, { "count": 1, "key": { "rank": 2 } }, { "count": 1, "key": { "rank": null } }
    ]);
    assert_eq!(
        (&data["totals"]["groups"], errors),
        (&groups, json!([["totals", "groups", 2, "key", "rank"]]))
    );
}

/// Methods need the whole row, and nothing else does.
#[tokio::test]
async fn a_value_that_is_not_selected_fails_only_methods() {
    let app = app().await;
    for (root, rows, path) in [
        (
            "writers(orderBy: [{name: ASC}])",
            "/writers",
            json!(["writers", 2]),
        ),
        (
            "writerPages(orderBy: [{name: ASC}])",
            "/writerPages/nodes",
            json!(["writerPages", "nodes", 2]),
        ),
    ] {
        for method in ["shout", "waited"] {
            let fields = format!("{{ name {method} notes {{ id }} }}");
            let fields = if rows.ends_with("nodes") {
                format!("{{ nodes {fields} }}")
            } else {
                fields
            };
            let (data, errors) = parts(&app.query(&format!("{{ {root} {fields} }}")).await);
            let expected = json!([
                { "name": "Ada", method: "ADA", "notes": [{ "id": 1 }] },
                { "name": "Bea", method: "BEA", "notes": [] },
                { "name": "Cleo", method: null, "notes": [{ "id": 3 }] },
            ]);
            let mut at = path.as_array().unwrap().clone();
            at.push(json!(method));
            assert_eq!(
                (data.pointer(rows), errors),
                (Some(&expected), json!([at])),
                "{root} {method}"
            );
        }
    }
}

#[tokio::test]
async fn a_cursor_error_is_reported_for_forged_cursors_only() {
    let app = app().await;
    let page = app
        .query("{ pages(first: 1, orderBy: [{rank: ASC}]) { nodes { id } pageInfo { endCursor hasNextPage } } }")
        .await;
    let (data, errors) = parts(&page);
    assert_eq!(
        (&data["pages"]["nodes"], errors),
        (&json!([{ "id": 3 }]), json!([]))
    );
    let cursor = data["pages"]["pageInfo"]["endCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let after = |cursor: &str| {
        format!(
            "{{ pages(first: 2, after: \"{cursor}\", orderBy: [{{rank: ASC}}]) {{ nodes {{ id }} }} }}"
        )
    };
    let (data, errors) = parts(&app.query(&after(&cursor)).await);
    assert_eq!(
        (&data["pages"]["nodes"], errors),
        (&json!([{ "id": 1 }, { "id": 2 }]), json!([]))
    );
    let keys = String::from_utf8(URL_SAFE_NO_PAD.decode(&cursor).unwrap()).unwrap();
    let forged = URL_SAFE_NO_PAD.encode(keys.replace("\"1\"", "\"x\""));
    let reply = app.query(&after(&forged)).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert!(
        reply
            .message()
            .contains("the cursor is not one of this list"),
        "{}",
        reply.text
    );
}
