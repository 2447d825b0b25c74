//! Mutations with denied fields in their results, and `onError`.

use serde_json::{Value, json};

use super::{database, denies, serve};

/// A mutation whose response would be lost does not run.
#[tokio::test]
async fn a_mutation_runs_if_its_result_can_be_returned() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let halted = (Value::Null, json!("NOT_DONE"), 0);
    let answered = |member: Value, change: i64| {
        (
            json!({ "change": { "member": member } }),
            json!("DONE"),
            change,
        )
    };

    for (field, on_error, expected) in [
        ("email", "PROPAGATE", answered(json!({ "email": null }), 1)),
        ("email", "NULL", answered(json!({ "email": null }), 1)),
        ("email", "HALT", halted.clone()),
        ("token", "NULL", answered(json!({ "token": null }), 1)),
        ("token", "HALT", halted),
    ] {
        database.execute("DELETE FROM tb_changes").await;
        let query = format!(
            "mutation {{ change(member_id: 1) {{ ... on ChangedSuccess {{ member {{ {field} }} }} }} }}"
        );
        let reply = app
            .post(&json!({ "query": query, "onError": on_error }))
            .await
            .json();
        let errors = reply["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{field} {on_error}: {reply}");
        let effect = errors[0]["extensions"]["mutation"].clone();
        let changes: i64 = database.value("SELECT count(*) FROM tb_changes").await;
        assert_eq!(
            (reply["data"].clone(), effect, changes),
            expected,
            "{field} {on_error}: {reply}"
        );
    }
}
