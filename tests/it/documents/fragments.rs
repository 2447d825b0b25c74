//! Fragments on interfaces and unions.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "c_cat")]
#[derive(Clone)]
struct Cat {
    id: i32,
    name: String,
    lives: i32,
}

#[svc_type]
impl Cat {
    async fn late(&self) -> String {
        tokio::task::yield_now().await;
        self.name.to_lowercase()
    }
}

#[svc_type(sql_source = "c_dog")]
#[derive(Clone)]
struct Dog {
    id: i32,
    name: String,
    good: bool,
}

macro_rules! pets {
    ($pet:ident, $found:ident, $source:literal, $pets:ident, $union:ident) => {
        #[svc_interface(sql_source = $source, fields(id: i32, name: String))]
        enum $pet {
            Cat(Cat),
            Dog(Dog),
        }

        #[svc_union(sql_source = $source)]
        enum $found {
            Cat(Cat),
            Dog(Dog),
        }

        #[svc::query]
        async fn $pets() -> Vec<$pet>;
        #[svc::query]
        async fn $union() -> Vec<$found>;
    };
}

pets!(ColumnPet, ColumnFound, "c_pet", column_pets, column_found);
pets!(DataPet, DataFound, "d_pet", data_pets, data_found);
pets!(TablePet, TableFound, "tv_pet", table_pets, table_found);

fn cat() -> Cat {
    Cat {
        id: 1,
        name: "Tom".into(),
        lives: 9,
    }
}
fn dog() -> Dog {
    Dog {
        id: 2,
        name: "Rex".into(),
        good: true,
    }
}
#[svc::query]
fn made_pets() -> Vec<ColumnPet> {
    vec![ColumnPet::Cat(cat()), ColumnPet::Dog(dog())]
}
#[svc::query]
fn made_found() -> Vec<ColumnFound> {
    vec![ColumnFound::Cat(cat()), ColumnFound::Dog(dog())]
}

const SQL: &str = r#"
CREATE VIEW c_cat AS SELECT 1 AS id, 'Tom' AS name, 9 AS lives;
CREATE VIEW c_dog AS SELECT 2 AS id, 'Rex' AS name, true AS good;
CREATE VIEW c_pet AS
SELECT 'Cat' AS __typename, id, name, lives, NULL::boolean AS good, '{}'::jsonb AS data FROM c_cat
UNION ALL SELECT 'Dog', id, name, NULL, good, '{}' FROM c_dog;
CREATE VIEW d_pet AS SELECT to_jsonb(p) - 'data' AS data FROM c_pet p;
CREATE TABLE tv_pet AS SELECT __typename, id, to_jsonb(p) - 'data' AS data FROM c_pet p;
"#;

async fn app() -> App {
    let url = TestDatabase::shared("fragments", SQL).await;
    let queries = queries![
        column_pets,
        column_found,
        data_pets,
        data_found,
        table_pets,
        table_found,
        made_pets,
        made_found
    ];
    App::serve(
        AppOptions::new()
            .database_url(url)
            .auto_camel_case(true)
            .queries(queries),
    )
    .await
}

/// On views of every kind and on resolvers; inline fragments and spreads, with `@include` on the
/// spread, on the inline fragment, and on a field inside.
#[tokio::test]
async fn fragments_apply_by_type_and_condition() {
    let app = app().await;
    for (root, ty) in [
        ("columnPets", "ColumnPet"),
        ("dataPets", "DataPet"),
        ("tablePets", "TablePet"),
        ("madePets", "ColumnPet"),
        ("columnFound", "ColumnFound"),
        ("dataFound", "DataFound"),
        ("tableFound", "TableFound"),
        ("madeFound", "ColumnFound"),
    ] {
        for field in ["lives", "late"] {
            let query = format!(
                "query ($v: Boolean!, $w: Boolean = true) {{ {root} {{ __typename ...cat @include(if: $v) ... on Dog @include(if: $v) {{ name }}
                   ... on Dog {{ id good @include(if: $w) }} ...whole @skip(if: $v) }} }}
                 fragment cat on Cat {{ id {field} }}
                 fragment whole on {ty} {{ ... on Cat {{ n: name }} t: __typename }}"
            );
            let value = if field == "lives" {
                json!(9)
            } else {
                json!("tom")
            };
            for (variables, first, second) in [
                (
                    json!({ "v": true }),
                    json!({ "__typename": "Cat", "id": 1, field: value }),
                    json!({ "__typename": "Dog", "name": "Rex", "id": 2, "good": true }),
                ),
                (
                    json!({ "v": false, "w": false }),
                    json!({ "__typename": "Cat", "n": "Tom", "t": "Cat" }),
                    json!({ "__typename": "Dog", "id": 2, "t": "Dog" }),
                ),
            ] {
                let reply = app.query_with(&query, variables.clone()).await;
                let mut rows: Vec<Value> = reply.data()[root].as_array().unwrap().clone();
                rows.sort_by_key(|row| row["__typename"].to_string());
                assert_eq!(rows, [first, second], "{root} {variables}");
            }
        }
    }
}

/// A fragment on the interface itself, and one that can never apply.
#[tokio::test]
async fn a_fragment_on_an_interface_has_its_fields() {
    let app = app().await;
    for (root, ty) in [
        ("columnPets", "ColumnPet"),
        ("dataPets", "DataPet"),
        ("tablePets", "TablePet"),
        ("madePets", "ColumnPet"),
    ] {
        let query = format!(
            "query ($v: Boolean!) {{ {root} {{ ...f @include(if: $v) ... on {ty} {{ id }} }} }} fragment f on {ty} {{ name ... on Dog {{ good }} }}"
        );
        for (v, mut expected) in [
            (
                true,
                [
                    json!({ "name": "Tom", "id": 1 }),
                    json!({ "name": "Rex", "good": true, "id": 2 }),
                ],
            ),
            (false, [json!({ "id": 1 }), json!({ "id": 2 })]),
        ] {
            let mut rows = app.query_with(&query, json!({ "v": v })).await.data()[root]
                .as_array()
                .unwrap()
                .clone();
            rows.sort_by_key(ToString::to_string);
            expected.sort_by_key(ToString::to_string);
            assert_eq!(rows, expected, "{root} {v}");
        }
        let never = format!("{{ {root} {{ ... on Cat {{ ... on Dog {{ good }} }} }} }}");
        assert_eq!(app.query(&never).await.code(), "GRAPHQL_VALIDATION_FAILED");
    }
}
