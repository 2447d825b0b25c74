//! The report of the matrix: who may do what, what no rule names, and the ways that disagree.

use serde_json::json;
use svc::prelude::*;
use svc::testing::{Case, MatrixReport, authz_matrix};
use svc_tests::TestDatabase;

use super::matrix::{Ran, SQL, hello, notes};

async fn small(policy: Option<fn(&AuthorizationRequest) -> bool>) -> MatrixReport {
    let database = TestDatabase::copy_of("matrix", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .data(Ran::default())
        .queries(queries![notes, hello]);
    let options = match policy {
        Some(policy) => {
            options.authorizer(move |request: AuthorizationRequest| async move { policy(&request) })
        }
        None => options,
    };
    authz_matrix(options)
        .principal("nobody", &[])
        .principal("ada", &[("x-user", "ada")])
        .case(Case::new("Query.notes", "{ notes { id } }"))
        .case(Case::new("Note.title", "{ notes { id title } }"))
        .run()
        .await
        .unwrap()
}

fn only_known(request: &AuthorizationRequest) -> bool {
    request.operation_name() == "notes" || request.context().header("x-user").is_some()
}

#[tokio::test]
async fn the_report_lists_decisions_and_coverage() {
    let report = small(Some(only_known)).await;
    assert_eq!(
        report.verdict("Note.title", "nobody").unwrap().to_string(),
        "deny FORBIDDEN"
    );
    let expected = "\
| Case | nobody | ada |
|---|---|---|
| Query.notes | allow | allow |
| Note.title | deny FORBIDDEN | allow |

| Operation or field | Rules | Tested |
|---|---|---|
| Query.notes | Asks the authorizer. | yes |
| Query.hello | Asks the authorizer. | no |
| Note.id | open | no |
| Note.title | Asks the authorizer. | yes |
| Note.shout | Checks each object. | no |
";
    assert_eq!(report.to_markdown(), expected);
    assert!(
        report
            .to_string()
            .starts_with("Case         nobody          ada\nQuery.notes  allow           allow\n"),
        "{report}"
    );
    assert_eq!(
        report.to_json()["coverage"][2],
        json!({ "coordinate": "Note.id", "rules": [], "isTested": false })
    );
    let untested: Vec<_> = report
        .coverage()
        .untested()
        .map(|covered| covered.coordinate.as_str())
        .collect();
    assert_eq!(untested, ["Query.hello", "Note.shout"]);
    let open = small(None).await;
    let open: Vec<_> = open
        .coverage()
        .open()
        .map(|covered| covered.coordinate.as_str())
        .collect();
    assert_eq!(
        open,
        ["Query.notes", "Query.hello", "Note.id", "Note.title"]
    );
}

/// The matrix is there to find layers that decide by transport.
#[tokio::test]
async fn transports_that_disagree_are_reported() {
    use svc::axum::http::Method;
    use svc::axum::middleware::{Next, from_fn};

    let database = TestDatabase::copy_of("matrix", SQL).await;
    let opens_get = |mut request: svc::axum::extract::Request, next: Next| async move {
        if request.method() == Method::GET {
            request
                .headers_mut()
                .insert("x-user", "everyone".parse().unwrap());
        }
        next.run(request).await
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .data(Ran::default())
        .queries(queries![notes, hello]);
    let matrix = authz_matrix(options.authorizer(async |request: AuthorizationRequest| {
        request.context().header("x-user").is_some()
    }));
    let matrix = matrix
        .principal("nobody", &[])
        .case(Case::new("Query.hello", "{ hello }"));
    let report = matrix
        .layer(move |router: svc::axum::Router| router.layer(from_fn(opens_get)))
        .run()
        .await
        .unwrap();
    assert_eq!(
        report.problems(),
        // A socket is opened with GET.
        ["GET /graphql", "WebSocket"].map(|way| {
            format!(
                "Query.hello as nobody: POST /graphql and {way} disagree: deny FORBIDDEN, but allow"
            )
        })
    );
}

#[tokio::test]
async fn a_case_for_an_unknown_field_is_an_error() {
    let options = AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello]);
    let error = authz_matrix(options)
        .case(Case::new("Query.helo", "{ helo }"))
        .run()
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`Query.helo` is not a field of the schema"),
        "{error}"
    );
}
