//! Files reach mutations, and nothing else does.

use serde_json::json;
use svc::Upload;
use svc::prelude::*;
use svc_tests::App;

use super::service::{
    ONE, body, config, files_in, multipart, options, part, request, send, serve, with_file,
};

#[tokio::test]
async fn a_file_exists_until_its_request_ends() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    let reply = send(&app, with_file("hello")).await;
    assert_eq!(
        reply.data(),
        json!({ "one": { "text": "hello", "size": 5 } })
    );
    assert_eq!(
        send(&app, with_file("")).await.data(),
        json!({ "one": { "text": "", "size": 0 } })
    );
    let large = "x".repeat(3_000_000);
    assert_eq!(
        send(&app, with_file(&large)).await.data()["one"]["size"],
        3_000_000
    );
    assert_eq!(files_in(dir.path()), 0);
}

#[tokio::test]
async fn one_file_may_fill_several_variables() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    let query = "mutation ($a: Upload!, $b: [Upload!]!) { one(file: $a) { text } many(files: $b) { text } }";
    let map = json!({ "x": ["variables.a", "variables.b.1"], "y": ["variables.b.0"] });
    let files = [("x", "ex"), ("y", "why")];
    let reply = send(
        &app,
        body(&request(
            query,
            &json!({ "a": null, "b": [null, null] }),
            &map,
            &files,
        )),
    )
    .await;
    let many = json!([{ "text": "why" }, { "text": "ex" }]);
    assert_eq!(
        reply.data(),
        json!({ "one": { "text": "ex" }, "many": many })
    );
    assert_eq!(
        app.query("mutation { maybe { text } }").await.data(),
        json!({ "maybe": null })
    );
    let none = body(&request("{ hello }", &json!({}), &json!({}), &[]));
    assert_eq!(send(&app, none).await.data(), json!({ "hello": "world" }));
}

/// A file is what a multipart request sends; a text is not one, whatever it says.
#[tokio::test]
async fn a_text_is_not_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    for text in [
        "hello",
        "svc-upload:0",
        "svc-upload:00000000000000000000000000000000:0",
        "/etc/passwd",
    ] {
        let reply = app.query_with(ONE, json!({ "file": text })).await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
        assert!(!reply.text.contains("root"), "{}", reply.text);
        let literal = app
            .query(&format!("mutation {{ one(file: {text:?}) {{ text }} }}"))
            .await;
        assert!(
            ["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"].contains(&literal.code().as_str()),
            "{}",
            literal.text
        );
    }
    // Nor is the file of another variable.
    let two = "mutation ($file: Upload!, $other: Upload!) { one(file: $file) { text } b: one(file: $other) { text } }";
    let guessed = json!({ "file": null, "other": "svc-upload:00000000000000000000000000000000:0" });
    let parts = request(
        two,
        &guessed,
        &json!({ "0": ["variables.file"] }),
        &[("0", "mine")],
    );
    assert_eq!(send(&app, body(&parts)).await.code(), "BAD_USER_INPUT");
}

/// A variable of another type takes no file.
#[tokio::test]
async fn a_file_is_not_a_text() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    let map = json!({ "0": ["variables.value"] });
    for query in [
        "mutation ($value: String!) { text(text: $value) }",
        "mutation ($value: String = \"\") { text(text: $value) }",
        "mutation ($value: JSON!) { json(value: $value) }",
    ] {
        let parts = request(query, &json!({ "value": null }), &map, &[("0", "mine")]);
        let reply = send(&app, body(&parts)).await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{query}: {}", reply.text);
        assert!(reply.text.contains("$value"), "{query}: {}", reply.text);
    }
    assert_eq!(files_in(dir.path()), 0);
}

#[tokio::test]
async fn files_are_off_by_default() {
    let app = serve(svc::UploadConfig::default()).await;
    assert_eq!(send(&app, with_file("hello")).await.status, 415);
}

/// A form of another site could send files, even where nothing else looks for forged requests.
#[tokio::test]
async fn a_form_cannot_send_files() {
    let dir = tempfile::tempdir().unwrap();
    for csrf in [true, false] {
        let protection = svc::ProtectionConfig {
            csrf,
            ..svc::ProtectionConfig::default()
        };
        let config = SvcConfig {
            protection,
            uploads: config(dir.path()),
            ..SvcConfig::default()
        };
        let options = options(svc::UploadConfig::default()).config(config);
        let app = App::serve(options.database_url("postgres://nobody@127.0.0.1:1/nothing")).await;
        let reply = app.send(multipart(&app).body(with_file("hello"))).await;
        assert_eq!(
            (reply.status, reply.code()),
            (403, "CSRF_PROTECTION_FAILED".to_owned()),
            "{csrf}"
        );
        assert_eq!(
            send(&app, with_file("hello")).await.data()["one"]["text"],
            "hello"
        );
    }
}

#[tokio::test]
async fn only_mutations_with_a_body_take_files() {
    #[svc::query]
    fn reads(file: Upload) -> bool {
        let _ = file;
        true
    }
    #[svc::mutation(function = "f")]
    async fn calls(files: Option<Vec<Upload>>) -> bool;

    for options in [
        AppOptions::new().queries(queries![reads]),
        options(svc::UploadConfig::default()).mutations(mutations![calls]),
    ] {
        let refused = options.sdl().unwrap_err().to_string();
        assert!(
            refused.contains("which only a mutation with a body gets"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn the_rules_of_other_requests_hold_for_uploads() {
    let dir = tempfile::tempdir().unwrap();
    let registered = options(config(dir.path())).registered_only(true);
    let app = App::serve(registered).await;
    assert_eq!(send(&app, with_file("hello")).await.code(), "FORBIDDEN");
    let denied = options(config(dir.path())).authorizer(async |_: AuthorizationRequest| false);
    let app = App::serve(denied).await;
    assert_eq!(send(&app, with_file("hello")).await.code(), "FORBIDDEN");
    let batch = body(&[part("operations", None, "[]"), part("map", None, "{}")]);
    assert_eq!(send(&app, batch).await.status, 400);
    assert_eq!(files_in(dir.path()), 0);
}

#[tokio::test]
async fn the_operations_of_an_upload_take_on_error() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    let upload = |on_error: &str| {
        let operations =
            json!({ "query": ONE, "variables": { "file": null }, "onError": on_error });
        body(&[
            part("operations", None, &operations.to_string()),
            part("map", None, &json!({ "0": ["variables.file"] }).to_string()),
            part("0", Some("f.txt"), "hello"),
        ])
    };

    assert_eq!(
        send(&app, upload("HALT")).await.data(),
        json!({ "one": { "text": "hello", "size": 5 } })
    );
    let refused = send(&app, upload("STOP")).await;
    assert_eq!(
        refused.message(),
        "`onError` must be \"NULL\", \"PROPAGATE\" or \"HALT\""
    );
}
