//! `@semanticNonNull`: non-null fields that may fail are shown as nullable.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, node, run_beside};

#[svc_interface(fields(id: i32, code: String, name: String), sql_source = "v_stored")]
enum Stored {
    Shelf(Shelf),
    Crate(Crate),
}

#[svc_type(sql_source = "v_shelf", authorize_fields = ["code"])]
struct Shelf {
    id: i32,
    name: String,
    code: String,
    note: Option<String>,
    #[relation(from = "id", to = "shelf_id")]
    books: Many<Book>,
}

#[svc_type]
impl Shelf {
    fn weight(&self) -> Result<i32> {
        Err(Error::new(ErrorCode::BadUserInput, "too heavy"))
    }
    fn maybe(&self) -> Option<i32> {
        None
    }
}

/// Nothing of it is gated.
#[svc_type(sql_source = "v_crate")]
struct Crate {
    id: i32,
    code: String,
    name: String,
}

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    #[relation]
    shelf: One<Shelf>,
}

#[svc_type]
struct Tutor {
    note: Option<String>,
}

#[svc_type]
impl Tutor {
    fn grade(&self) -> Result<i32> {
        Ok(1)
    }
}

#[svc::query]
async fn stored() -> Vec<Stored>;
#[svc::query]
async fn shelves() -> Vec<Shelf>;
#[svc::query]
async fn books() -> Vec<Book>;
#[svc::query]
async fn shelf_page() -> Connection<Shelf>;
#[svc::query]
fn tutor() -> Tutor {
    Tutor { note: None }
}
#[svc::query]
fn fine() -> i32 {
    1
}
#[svc::query]
fn lost() -> Result<i32> {
    Err(Error::new(ErrorCode::BadUserInput, "lost"))
}

const SQL: &str = "
    CREATE TABLE tb_shelf (id int PRIMARY KEY, name text, code text, note text);
    INSERT INTO tb_shelf VALUES (1, 'left', 'x', 'old'), (2, NULL, 'y', NULL);
    CREATE VIEW v_shelf AS SELECT * FROM tb_shelf;
    CREATE VIEW v_crate AS SELECT 7 AS id, 'z' AS code, 'crate' AS name;
    CREATE VIEW v_stored AS SELECT 'Shelf' AS __typename, id, code, name FROM tb_shelf WHERE id = 1
        UNION ALL SELECT 'Crate', id, code, name FROM v_crate;
    CREATE VIEW v_book AS SELECT 1 AS id, 1 AS shelf_id UNION ALL SELECT 2, 9;";

fn options() -> AppOptions {
    AppOptions::new().queries(queries![
        stored, shelves, books, shelf_page, tutor, fine, lost
    ])
}

async fn denies_codes(request: AuthorizationRequest) -> bool {
    request.operation_name() != "Shelf.code"
}

async fn app() -> App {
    let url = TestDatabase::shared("semantic", SQL).await;
    let options = options().database_url(url).authorizer(denies_codes);
    App::serve(options.semantic_non_null(true)).await
}

/// The definition of a type in a schema.
fn definition<'s>(sdl: &'s str, start: &str) -> &'s str {
    let at = sdl
        .find(start)
        .unwrap_or_else(|| panic!("no {start:?} in {sdl}"));
    let end = sdl[at..].find("\n}").expect("the end of the type");
    &sdl[at..at + end]
}

#[test]
fn only_fields_that_may_fail_are_shown_as_nullable() {
    let sdl = options().semantic_non_null(true).sdl().unwrap();
    let expected: [(&str, &[&str]); 6] = [
        (
            "interface Stored {",
            &["id: Int!", "code: String @semanticNonNull", "name: String!"],
        ),
        (
            "type Shelf implements Stored {",
            &[
                "id: Int!",
                "name: String!",
                "code: String @semanticNonNull",
                "note: String",
                "): [Book!]!",
                "weight: Int @semanticNonNull",
                "maybe: Int",
            ],
        ),
        (
            "type Crate implements Stored {",
            &["id: Int!", "code: String!", "name: String!"],
        ),
        (
            "type Book {",
            &["id: Int!", "shelf: Shelf @semanticNonNull"],
        ),
        (
            "type Query {",
            &[
                "): [Shelf!] @semanticNonNull",
                "): ShelfConnection @semanticNonNull",
                "fine: Int @semanticNonNull",
                "lost: Int @semanticNonNull",
            ],
        ),
        (
            "type ShelfConnection {",
            &["edges: [ShelfEdge!]!", "nodes: [Shelf!]!"],
        ),
    ];

    for (start, lines) in expected {
        let definition = definition(&sdl, start);
        for line in lines {
            assert!(
                definition.lines().any(|found| found.trim() == *line),
                "{line}: {definition}"
            );
        }
    }

    let directive = "directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION\n";
    assert_eq!(sdl.matches(directive).count(), 1, "{sdl}");
}

#[test]
fn without_the_setting_no_field_has_the_directive() {
    let sdl = options().sdl().unwrap();
    assert!(!sdl.contains("semanticNonNull"), "{sdl}");
    assert!(sdl.contains("  fine: Int!\n"), "{sdl}");
}

#[tokio::test]
async fn an_error_makes_only_its_field_null() {
    let app = app().await;
    for (query, data, path) in [
        (
            "{ shelves(where: { id: { eq: 1 } }) { id code } fine }",
            json!({ "shelves": [{ "id": 1, "code": null }], "fine": 1 }),
            json!(["shelves", 0, "code"]),
        ),
        (
            "{ shelves(where: { id: { eq: 1 } }) { id weight } }",
            json!({ "shelves": [{ "id": 1, "weight": null }] }),
            json!(["shelves", 0, "weight"]),
        ),
        (
            "{ lost fine }",
            json!({ "lost": null, "fine": 1 }),
            json!(["lost"]),
        ),
        (
            "{ stored(where: { id: { eq: 1 } }) { id code } }",
            json!({ "stored": [{ "id": 1, "code": null }] }),
            json!(["stored", 0, "code"]),
        ),
        // The shelf does not exist.
        (
            "{ books(where: { id: { eq: 2 } }) { id shelf { id } } }",
            json!({ "books": [{ "id": 2, "shelf": null }] }),
            json!(["books", 0, "shelf"]),
        ),
    ] {
        let reply = app.query(query).await.json();
        assert_eq!(reply["data"], data, "{query}: {reply}");
        let errors = reply["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{query}: {reply}");
        assert_eq!(errors[0]["path"], path, "{query}");
    }
}

/// A stored null in a non-null field is not the error of a field that may fail, so it propagates to
/// the next one that may.
#[tokio::test]
async fn nulls_propagate_to_the_next_field_that_may_fail() {
    let app = app().await;
    for (query, data, path) in [
        (
            "{ shelves(where: { id: { eq: 2 } }) { id name } fine }",
            json!({ "shelves": null, "fine": 1 }),
            json!(["shelves", 0, "name"]),
        ),
        (
            "{ shelf_page(first: 2, order_by: [{ id: ASC }]) { nodes { name } } fine }",
            json!({ "shelf_page": null, "fine": 1 }),
            json!(["shelf_page", "nodes", 1, "name"]),
        ),
    ] {
        let reply = app.query(query).await.json();
        assert_eq!(reply["data"], data, "{query}: {reply}");
        assert_eq!(reply["errors"][0]["path"], path, "{query}");
    }

    let halted = app
        .post(&json!({ "query": "{ lost fine }", "onError": "HALT" }))
        .await
        .json();
    assert_eq!(halted["data"], Value::Null, "{halted}");
}

#[tokio::test]
async fn introspection_shows_the_types_of_the_schema() {
    let app = app().await;
    let query = r#"{
        __type(name: "Book") { fields { name type { kind } } }
        __schema { directives { name args { name defaultValue } } }
    }"#;
    let data = app.query(query).await.data();
    let kinds = json!([
        { "name": "id", "type": { "kind": "NON_NULL" } },
        { "name": "shelf", "type": { "kind": "OBJECT" } },
    ]);
    assert_eq!(data["__type"]["fields"], kinds);
    let directive = json!({
        "name": "semanticNonNull",
        "args": [{ "name": "levels", "defaultValue": "[0]" }],
    });
    let directives = data["__schema"]["directives"].as_array().unwrap();
    assert!(directives.contains(&directive), "{data}");
}

#[tokio::test(flavor = "multi_thread")]
async fn relay_makes_non_null_types_of_the_fields() {
    let options = AppOptions::new().queries(queries![tutor, fine]);
    let sdl = options.semantic_non_null(true).sdl().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("service.graphql");
    std::fs::write(&schema, sdl).unwrap();
    let client = folder.path().join("client");
    std::fs::create_dir(&client).unwrap();
    let mut command = node("semantic.mjs");
    command.arg(&schema).arg(&client);
    let output = run_beside(command).await;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(
        made["directive"],
        "(levels: [Int!]! = [0]) on FIELD_DEFINITION"
    );
    for (document, lines) in [
        (
            "strict",
            [
                "readonly grade: number;",
                "readonly note: string | null | undefined;",
            ],
        ),
        (
            "loose",
            [
                "readonly grade: number | null | undefined;",
                "readonly note: string | null | undefined;",
            ],
        ),
    ] {
        let types = made[document].as_str().unwrap();
        for line in lines {
            assert!(types.contains(line), "{document}: {line} in {types}");
        }
    }
}
