//! Values that break their types are found in the log, by the `errorId` that the client gets.

use svc::prelude::*;
use svc_tests::{App, Log, Reply, TestDatabase};

#[svc_enum]
enum Size {
    Small,
}

#[svc_type(sql_source = "v_shirt")]
struct Shirt {
    id: i32,
    name: String,
    size: Option<Size>,
    price: i32,
    bought: Option<NaiveDate>,
}

#[svc::query]
async fn shirts() -> Vec<Shirt>;
#[svc::query]
async fn shirt(id: i32) -> Option<Shirt>;

const SQL: &str = r#"
CREATE VIEW v_shirt AS SELECT i AS id, 'HUGE' AS size, NULL::text AS name, jsonb_build_object('id', i, 'bought', 'secret') AS data
FROM generate_series(1, 300) AS i;"#;

async fn app(environment: svc::Environment) -> App {
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        environment,
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![shirts, shirt]);
    App::serve(options).await
}

fn error_id(reply: &Reply) -> String {
    let error = &reply.json()["errors"][0];
    assert_eq!(
        error["extensions"]["code"], "INTERNAL_SERVER_ERROR",
        "{}",
        reply.text
    );
    error["extensions"]["errorId"]
        .as_str()
        .unwrap_or_else(|| panic!("no errorId: {}", reply.text))
        .to_owned()
}

const FIELDS: [(&str, &str, &str); 4] = [
    (
        "name",
        "Cannot return null for non-nullable field Shirt.name.",
        "the column `name` of `v_shirt`",
    ),
    (
        "price",
        "Cannot return null for non-nullable field Shirt.price.",
        "the key `price` of `data` of `v_shirt`",
    ),
    (
        "size",
        "the value is not one of its enum",
        "the column `size` of `v_shirt`",
    ),
    (
        "bought",
        "the value is not a valid Date",
        "the key `bought` of `data` of `v_shirt`",
    ),
];

#[tokio::test]
async fn one_line_of_the_log_has_the_id_and_the_cause() {
    let log = Log::start();
    for environment in [svc::Environment::Development, svc::Environment::Production] {
        let app = app(environment).await;
        for (field, message, place) in FIELDS {
            let reply = app
                .query(&format!("{{ shirts(limit: 300) {{ {field} }} }}"))
                .await;
            let shown = if environment == svc::Environment::Development {
                message
            } else {
                "internal server error"
            };
            assert_eq!(reply.message(), shown, "{}", reply.text);
            let (id, written) = (error_id(&reply), log.text());
            let lines: Vec<_> = written.lines().filter(|line| line.contains(&id)).collect();
            let [line] = lines[..] else {
                panic!("{lines:#?}")
            };
            for part in [message, place, &format!("Shirt.{field}")] {
                assert!(line.contains(part), "{line}");
            }
            assert!(
                !line.contains("secret") && !line.contains("HUGE"),
                "a stored value: {line}"
            );
            error_id(
                &app.query(&format!("{{ shirt(id: 1) {{ {field} }} }}"))
                    .await,
            );
        }
    }
}
