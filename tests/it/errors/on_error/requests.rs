//! Requests with `onError`, in every form.

use serde_json::{Value, json};
use svc_tests::{App, Reply};

use super::{app, parts};

const JSON: (&str, &str) = ("content-type", "application/json");

/// The `data` of `{ lost fine }` with `NULL`.
fn in_place() -> (Value, Vec<Value>) {
    (json!({ "lost": null, "fine": 1 }), vec![json!(["lost"])])
}

async fn send(app: &App, method: &str, body: &Value) -> Reply {
    let request = app.request(method, "/graphql").header(JSON.0, JSON.1);
    app.send(request.body(body.to_string())).await
}

#[tokio::test]
async fn every_form_of_a_request_takes_on_error() {
    let app = app().await;
    let body = json!({ "query": "{ lost fine }", "onError": "NULL" });
    for method in ["POST", "QUERY"] {
        let reply = send(&app, method, &body).await;
        assert_eq!(parts(&reply.json()), in_place(), "{method}");
    }

    let reply = app
        .get("/graphql?query=%7B%20lost%20fine%20%7D&onError=NULL")
        .await;
    assert_eq!(parts(&reply.json()), in_place());

    // With members that the common form of a body does not have.
    let body = json!({ "query": "{ lost fine }", "onError": "NULL", "extensions": {} });
    assert_eq!(parts(&app.post(&body).await.json()), in_place());

    let body = json!({ "documentId": "Both", "onError": "NULL" });
    assert_eq!(parts(&app.post(&body).await.json()), in_place());
}

#[tokio::test]
async fn each_request_of_a_batch_has_its_own() {
    let app = app().await;
    let request = |on_error: &str| json!({ "query": "{ lost fine }", "onError": on_error });
    let reply = app
        .post(&json!([
            request("NULL"),
            request("nothing"),
            request("HALT")
        ]))
        .await
        .json();
    assert_eq!(parts(&reply[0]), in_place(), "{reply}");
    assert_eq!(reply[1]["errors"][0]["extensions"]["code"], "BAD_REQUEST");
    assert!(reply[1].get("data").is_none(), "{reply}");
    assert_eq!(
        parts(&reply[2]),
        (Value::Null, vec![json!(["lost"])]),
        "{reply}"
    );
}

#[tokio::test]
async fn any_other_value_is_a_request_error() {
    let app = app().await;
    for on_error in [
        json!(""),
        json!("null"),
        json!("ABORT"),
        json!("NO_PROPAGATE"),
        json!("NULL "),
        json!(5),
        json!(true),
        json!(["NULL"]),
        json!({}),
    ] {
        let body = json!({ "query": "{ fine }", "onError": on_error });
        let reply = app.post(&body).await;
        assert_eq!(
            (reply.code().as_str(), reply.message().as_str()),
            (
                "BAD_REQUEST",
                "`onError` must be \"NULL\", \"PROPAGATE\" or \"HALT\""
            ),
            "{on_error}"
        );
        assert!(reply.json().get("data").is_none(), "{}", reply.text);
    }

    let reply = app.get("/graphql?query=%7Bfine%7D&onError=").await;
    assert_eq!(reply.code(), "BAD_REQUEST");
    let reply = app
        .get("/graphql?query=%7Bfine%7D&onError=NULL&onError=HALT")
        .await;
    assert_eq!(reply.message(), "the parameter `onError` is given twice");
}

/// As for all members of a request, null means that it is absent.
#[tokio::test]
async fn null_is_the_default() {
    let app = app().await;
    let body = json!({ "query": "{ lost fine }", "onError": null });
    assert_eq!(
        parts(&app.post(&body).await.json()),
        (Value::Null, vec![json!(["lost"])])
    );
}
