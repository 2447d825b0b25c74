//! Arguments of every kind, as a function and SQL get them.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

mod values {
    use super::*;

    #[svc_type(sql_source = "v_echo")]
    pub(super) struct Echo {
        id: i32,
        data: Value,
    }

    #[svc_enum]
    pub(super) enum Colour {
        Red,
        DarkBlue,
    }

    #[svc_input]
    pub(super) struct Area {
        from_x: i32,
        names: Option<Vec<String>>,
    }

    #[svc::query(function = "echo", context = ["who"])]
    pub(super) async fn echo(
        id: Uuid,
        colours: Vec<Colour>,
        area: Option<Area>,
        at: Option<DateTime<Utc>>,
    ) -> Vec<Echo>;
    #[svc::query(
        sql = "SELECT 1 AS id, jsonb_build_object('who', $1::text, 'id', $2::uuid, 'colours', $3::text[], 'area', $4::jsonb, 'at', $5::timestamptz) AS data",
        context = ["who"]
    )]
    pub(super) async fn select(
        id: Uuid,
        colours: Vec<Colour>,
        area: Option<Area>,
        at: Option<DateTime<Utc>>,
    ) -> Vec<Echo>;
}

#[tokio::test]
async fn arguments_keep_their_values() {
    let database = TestDatabase::new(
        "CREATE VIEW v_echo AS SELECT 1 AS id, '{}'::jsonb AS data;
         CREATE FUNCTION echo(who text, id uuid, colours text[], area jsonb, at timestamptz) RETURNS SETOF v_echo LANGUAGE sql STABLE AS
           $$ SELECT 1, jsonb_build_object('who', who, 'id', id, 'colours', colours, 'area', area, 'at', at) $$;",
    )
    .await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let options = options.queries(queries![values::echo, values::select]);
    let app =
        App::serve(options.context_value("who", |_| Ok(Some("O'Hara \"$1\"".to_owned())))).await;
    let id = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
    for root in ["echo", "select"] {
        for (area, at, colours) in [
            (Value::Null, Value::Null, json!([])),
            (
                json!({ "fromX": 7, "names": ["a,b", "\"{}\"", "NULL"] }),
                json!("2026-11-24T00:00:00Z"),
                json!(["DARK_BLUE", "RED"]),
            ),
        ] {
            let document = format!(
                "query($id: UUID!, $colours: [Colour!]!, $area: Area, $at: DateTime) {{ answer: {root}(id: $id, colours: $colours, area: $area, at: $at) {{ data }} }}"
            );
            let variables = json!({ "id": id, "colours": colours, "area": area, "at": at });
            let reply = app.query_with(&document, variables).await;
            let data = reply.data()["answer"][0]["data"].clone();
            assert_eq!(
                (&data["who"], &data["id"]),
                (&json!("O'Hara \"$1\""), &json!(id)),
                "{root}"
            );
            let stored: Vec<_> = colours
                .as_array()
                .unwrap()
                .iter()
                .map(|colour| colour.as_str().unwrap())
                .collect();
            assert_eq!(
                data["colours"].as_array().unwrap().len(),
                stored.len(),
                "{root} {data}"
            );
            match area {
                Value::Null => assert_eq!(data["area"], Value::Null, "{root}"),
                _ => assert_eq!(
                    data["area"],
                    json!({ "from_x": 7, "names": ["a,b", "\"{}\"", "NULL"] }),
                    "{root}"
                ),
            }
            assert_eq!(data["at"].is_null(), at.is_null(), "{root}");
        }
        let nul = app.query_with(&format!("query($c: [Colour!]!) {{ {root}(id: \"{id}\", colours: $c, area: {{fromX: 1, names: [\"\\u0000\"]}}) {{ id }} }}"), json!({ "c": [] })).await;
        assert_eq!(nul.code(), "BAD_USER_INPUT", "{}", nul.text);
    }
}
