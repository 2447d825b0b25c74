//! The example of the book's page on tenancy, on the embedded database.

use serde_json::json;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::sqlx;
use svc_tests::App;

use super::production;

#[svc_type(sql_source = "v_note")]
struct Page {
    id: i32,
    body: String,
}

#[svc::query]
async fn pages() -> Vec<Page>;

#[svc::mutation]
async fn add_note(ctx: &Context<'_>, body: String) -> Result<bool> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    sqlx::query("INSERT INTO tb_note (body) VALUES ($1)")
        .bind(body)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// The SQL of the page on tenancy.
fn sql() -> &'static str {
    let page = include_str!("../../../../docs/tenancy.md");
    page.split("```sql\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap()
}

fn options(embedded: svc::embedded::Options) -> AppOptions {
    let variables = SessionVariables::new().header("app.tenant_id", "x-tenant-id");
    let options = production()
        .embedded_database(embedded)
        .setup_sql(sql())
        .session_variables(variables);
    options
        .queries(queries![pages])
        .mutations(mutations![add_note])
}

#[tokio::test]
async fn the_policies_of_the_book_bind_on_the_embedded_database() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = || svc::embedded::Options::new(folder.path());
    let error = create_svc_app(options(embedded()))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("`.role(\"app\")`"), "{error}");
    let tenants = [
        "6e8bc430-9c3a-11d9-9669-0800200c9a66",
        "6e8bc430-9c3a-11d9-9669-0800200c9a67",
    ];
    for start in 1..=2 {
        let app = App::serve(options(embedded().role("app"))).await;
        let ask = async |tenant: &str, query: String| {
            let request = app
                .request("POST", "/graphql")
                .header("content-type", "application/json");
            let body = json!({ "query": query }).to_string();
            app.send(request.header("x-tenant-id", tenant).body(body))
                .await
        };
        for tenant in tenants {
            let added = ask(
                tenant,
                format!(r#"mutation {{ add_note(body: "{tenant}") }}"#),
            )
            .await;
            assert_eq!(added.data(), json!({ "add_note": true }));
        }
        for tenant in tenants {
            let pages = ask(tenant, "{ pages { body } }".to_owned()).await.data();
            assert_eq!(
                pages["pages"],
                json!(vec![json!({ "body": tenant }); start]),
                "at the start {start}"
            );
        }
        assert_eq!(
            ask("", "{ pages { body } }".to_owned()).await.data(),
            json!({ "pages": [] })
        );
        app.stopped().await;
    }
}
