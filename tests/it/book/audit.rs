//! Authors and times of changes, noted by the database.

use serde_json::json;
use svc::db::SessionVariables;
use svc::prelude::*;

use super::{ask_as, serve};

const ADA: &str = "00000000-0000-0000-0000-00000000000a";

#[svc_type(sql_source = "v_document")]
struct Document {
    id: Uuid,
    title: String,
    created_by: Option<Uuid>,
    updated_at: Option<DateTime<Utc>>,
    updated_by: Option<Uuid>,
    #[relation(order_by = "-id")]
    changes: Many<Change>,
}

#[svc_type(sql_source = "v_change")]
struct Change {
    id: i64,
    changed_by: Option<Uuid>,
    operation: String,
    title: String,
}

#[svc::query]
async fn documents() -> Vec<Document>;

#[svc::mutation(function = "app.rename_document")]
async fn rename_document(id: Uuid, title: String) -> Document;

fn with_documents(options: AppOptions) -> AppOptions {
    let variables = SessionVariables::new().header("app.user_id", "x-user-id");
    options
        .queries(queries![documents])
        .mutations(mutations![rename_document])
        .session_variables(variables)
}

#[tokio::test]
async fn a_change_records_its_author_and_the_old_value() {
    let (app, _database) = serve(
        "audit",
        "INSERT INTO tb_document (title) VALUES ('Draft');",
        with_documents,
    )
    .await;
    let id = app.query("{ documents { id } }").await.data()["documents"][0]["id"].clone();
    let fields = "title createdBy updatedBy updatedAt changes { title operation changedBy }";
    for title in ["Second", "Third"] {
        let rename = format!(
            "mutation {{ renameDocument(id: {id}, title: \"{title}\") {{ title updatedBy }} }}"
        );
        let renamed = ask_as(&app, ADA, &rename).await;
        assert_eq!(
            renamed["data"]["renameDocument"],
            json!({ "title": title, "updatedBy": ADA })
        );
    }
    let document = app
        .query(&format!("{{ documents {{ {fields} }} }}"))
        .await
        .data()["documents"][0]
        .clone();
    assert_eq!(
        (&document["createdBy"], &document["updatedBy"]),
        (&json!(null), &json!(ADA))
    );
    let change = |title: &str| json!({ "title": title, "operation": "update", "changedBy": ADA });
    assert_eq!(
        document["changes"],
        json!([change("Second"), change("Draft")])
    );
}
