//! The service on a PostgreSQL of its own, with the files of `db/`.

use std::path::Path;

use svc::AppOptions;
use svc::axum::Router;
use svc::axum::body::{Body, to_bytes};
use svc::axum::http::{Request, header};
use svc::serde_json::{Value, from_slice, json};
use tower::ServiceExt as _;

/// The service, which ends with the test.
pub async fn start() -> Router {
    let options = AppOptions::new()
        .auto_camel_case(true)
        .embedded_database(svc::embedded::Options::temporary());
    let options =
        app::with_schema(options).setup_sql(format!("{}{}", sql("schema"), sql("migrations")));
    svc::create_svc_app(options)
        .await
        .expect("the service starts")
}

/// The answer to a document.
pub async fn ask(service: &Router, document: &str) -> Value {
    let request = Request::post("/graphql").header(header::CONTENT_TYPE, "application/json");
    let request = request
        .body(Body::from(json!({ "query": document }).to_string()))
        .expect("a request");
    let response = service.clone().oneshot(request).await.expect("an answer");
    let body = to_bytes(response.into_body(), usize::MAX)
        .await
        .expect("a body");
    from_slice(&body).expect("JSON")
}

/// The SQL files of a folder of `db/`, in the order of their names.
fn sql(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("db")
        .join(folder);
    let entries = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|end| end == "sql"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("a file") + "\n")
        .collect()
}
