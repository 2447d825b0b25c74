//! Roles whose names PostgreSQL reads only in quotes, as those of clouds are.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;

#[tokio::test]
async fn a_role_can_have_any_name() {
    let database = TestDatabase::new("CREATE VIEW v_row AS SELECT 1 AS id").await;
    for name in ["App", "svc@my-project.iam", "a.b", "123"] {
        let role = format!("{name} {}", database.name());
        let grant = format!("CREATE ROLE \"{role}\" LOGIN; GRANT SELECT ON v_row TO \"{role}\"");
        database.execute(&grant).await;
        let user = role.replace(' ', "%20").replace('@', "%40");
        let url = database
            .url()
            .replace("postgres://postgres@", &format!("postgres://{user}@"));
        assert!(url.contains(&user), "{url}");
        let app = App::serve(AppOptions::new().database_url(url).queries(queries![rows])).await;
        assert_eq!(
            app.query("{ rows { id } }").await.data(),
            json!({ "rows": [{ "id": 1 }] }),
            "{role}"
        );
        app.until_ready().await;
        database
            .execute(&format!("REVOKE SELECT ON v_row FROM \"{role}\""))
            .await;
    }
}
