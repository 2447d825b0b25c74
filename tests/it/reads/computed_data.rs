//! A view that computes `data` does so once for each row, however many conditions look at it.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, eventually};

macro_rules! note {
    ($name:ident, $source:literal, $list:ident) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            title: String,
            size: i32,
            tags: Vec<String>,
        }

        #[svc::query]
        async fn $list() -> Vec<$name>;
    };
}

note!(StoredNote, "v_stored", stored);
note!(JsonNote, "v_json", as_json);

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    title: String,
    size: i32,
    tags: Vec<String>,
    owner_id: i32,
}

#[svc_type(sql_source = "v_owner")]
struct Owner {
    id: i32,
    #[relation(to = "owner_id")]
    notes: Many<Note>,
}

#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
async fn totals() -> Aggregate<Note>;
#[svc::query]
async fn pages() -> Connection<Note>;
#[svc::query]
async fn owners() -> Vec<Owner>;

/// `document` counts how often it runs.
const SQL: &str = "
CREATE SEQUENCE built;
CREATE FUNCTION document(n int) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('built');
  RETURN jsonb_build_object('title', 'note ' || n, 'size', n % 7, 'tags', jsonb_build_array('t' || n), 'owner_id', n % 3);
END $$;
CREATE TABLE tb_note AS SELECT n AS id FROM generate_series(1, 40) n;
CREATE VIEW v_note AS SELECT id, document(id) AS data FROM tb_note;
CREATE VIEW v_owner AS SELECT id FROM generate_series(0, 2) AS o(id);
CREATE TABLE v_stored AS SELECT n AS id, jsonb_build_object('title', 'note ' || n, 'size', n % 7, 'tags',
  jsonb_build_array('t' || n)) AS data FROM generate_series(1, 5000) n;
CREATE INDEX stored_title ON v_stored (((data->'title') #>> '{}'));
CREATE VIEW v_json AS SELECT id, data::json AS data FROM v_stored;
ANALYZE;
";

async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new().database_url(database.url());
    let app =
        App::serve(options.queries(queries![notes, totals, pages, owners, stored, as_json])).await;
    (app, database)
}

/// The answer, and how many documents were built for it.
async fn built(
    app: &App,
    database: &TestDatabase,
    document: &str,
    conditions: &Value,
) -> (Value, i64) {
    let pool = database.pool().await;
    sqlx::query("SELECT setval('built', 1)")
        .execute(&pool)
        .await
        .unwrap();
    let data = app
        .query_with(document, json!({ "w": conditions }))
        .await
        .data();
    let last: i64 = sqlx::query_scalar("SELECT last_value FROM built")
        .fetch_one(&pool)
        .await
        .unwrap();
    (data, last - 1)
}

fn many(count: usize, condition: &Value) -> Vec<Value> {
    vec![condition.clone(); count]
}

#[tokio::test]
async fn many_conditions_compute_data_once_for_each_row() {
    let (app, database) = app().await;
    let (any, none) = (
        json!({ "title": { "contains": "note" } }),
        json!({ "title": { "contains": "nothing" } }),
    );
    let document =
        "query ($w: NoteWhere) { notes(where: $w, order_by: [{id: ASC}], limit: 1) { id } }";
    let first = json!({ "notes": [{ "id": 1 }] });
    for (conditions, answer, most) in [
        (json!({ "OR": many(40, &none) }), json!({ "notes": [] }), 40),
        (
            json!({ "NOT": { "OR": many(40, &none) } }),
            first.clone(),
            40,
        ),
        // The first few could be served by an index.
        (json!({ "AND": many(40, &any) }), first.clone(), 5 * 40),
        (
            json!({ "tags": { "contains": ["t1"] }, "OR": many(40, &any) }),
            first,
            3 * 40,
        ),
    ] {
        let (data, count) = built(&app, &database, document, &conditions).await;
        assert_eq!(data, answer, "{conditions}");
        assert!(count <= most, "{count} documents for {conditions}");
    }
}

#[tokio::test]
async fn orders_aggregates_and_relations_reuse_computed_data() {
    let (app, database) = app().await;
    let keys = "{title: ASC}, {size: ASC}".repeat(5).replace("}{", "}, {");
    let w = json!({ "title": { "contains": "note" } });
    let computed = "sum { size } avg { size } min { size title } max { size title }";
    for (document, most) in [
        (
            format!(
                "query ($w: NoteWhere) {{ notes(where: $w, limit: 3, order_by: [{keys}]) {{ id }} }}"
            ),
            80,
        ),
        (
            format!(
                "query ($w: NoteWhere) {{ pages(where: $w, first: 3, order_by: [{keys}]) {{ nodes {{ id }} }} }}"
            ),
            80,
        ),
        (
            format!("query ($w: NoteWhere) {{ totals(where: $w) {{ {computed} }} }}"),
            80,
        ),
        (
            format!(
                "query ($w: NoteWhere) {{ totals(where: $w) {{ groups(by: [SIZE, TITLE], limit: 3) {{ key {{ size title }} {computed} }} }} }}"
            ),
            120,
        ),
    ] {
        let (data, count) = built(&app, &database, &document, &w).await;
        assert!(!data.to_string().contains("null"), "{data}");
        assert!(count <= most, "{count} documents for {document}");
    }
    let document = "query ($w: OwnerWhere) { owners(where: $w) { id } }";
    let none = json!({ "title": { "contains": "nothing" } });
    let (data, count) = built(
        &app,
        &database,
        document,
        &json!({ "notes": { "some": { "OR": many(40, &none) } } }),
    )
    .await;
    assert_eq!(data, json!({ "owners": [] }));
    // Once for the key that joins, and once for the conditions.
    assert!(count <= 3 * 2 * 40, "{count} documents");
}

#[tokio::test]
async fn stored_documents_answer_the_same_and_keep_their_index() {
    let (app, database) = app().await;
    let any = many(20, &json!({ "size": { "gte": 0 } }));
    for root in ["stored", "as_json"] {
        let name = if root == "stored" {
            "StoredNoteWhere"
        } else {
            "JsonNoteWhere"
        };
        let document = format!(
            "query ($w: {name}) {{ {root}(where: $w, order_by: [{{title: DESC}}]) {{ id title }} }}"
        );
        let w = json!({ "title": { "in": ["note 77", "note 78"] }, "AND": any });
        let data = app.query_with(&document, json!({ "w": w })).await.data();
        assert_eq!(
            data[root],
            json!([{ "id": 78, "title": "note 78" }, { "id": 77, "title": "note 77" }])
        );
    }
    let document = "query ($w: StoredNoteWhere) { stored(where: $w) { id } }";
    let pool = database.pool().await;
    // A backend hands its statistics over now and then.
    eventually(async || {
        let w = json!({ "title": { "eq": "note 77" }, "AND": any });
        assert_eq!(
            app.query_with(document, json!({ "w": w })).await.data()["stored"],
            json!([{ "id": 77 }])
        );
        let scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'stored_title'";
        let scans: i64 = sqlx::query_scalar(scans).fetch_one(&pool).await.unwrap();
        if scans > 0 {
            Ok(())
        } else {
            Err("the index is not used".to_owned())
        }
    })
    .await;
}
