//! Whatever becomes of a decision, it is the same on every way to an answer, and what is denied runs nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::authz::OperationType;
use svc::prelude::*;
use svc::testing::{AuthzMatrix, Case, MatrixReport, authz_matrix};
use svc::{Operation, OperationsConfig};
use svc_tests::TestDatabase;

const SQL: &str = "CREATE TABLE tb_note (id int PRIMARY KEY, tenant text, title text);
    INSERT INTO tb_note VALUES (1, 'a', 'one'), (2, 'b', 'two');
    CREATE VIEW v_note AS SELECT * FROM tb_note;
    CREATE SCHEMA app;
    CREATE FUNCTION app.rename(note_id int, name text) RETURNS int LANGUAGE sql AS
    'UPDATE tb_note SET title = $2 WHERE id = $1 RETURNING id';";

#[svc_type(sql_source = "v_note", authorize_fields = ["title"])]
struct Note {
    id: i32,
    title: String,
}

#[svc_type]
impl Note {
    #[svc::authorize_field(behaves)]
    fn shout(&self, ctx: &Context<'_>) -> Result<Option<String>> {
        ran(ctx)?;
        Ok(Some(self.title.to_uppercase()))
    }
}

/// The number of times that functions of the program have run.
#[derive(Clone, Default)]
struct Ran(Arc<AtomicU32>);

fn ran(ctx: &Context<'_>) -> Result<i32> {
    Ok(ctx.data::<Ran>()?.0.fetch_add(1, Ordering::Relaxed).try_into()?)
}

#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
fn hello(ctx: &Context<'_>) -> Result<&'static str> {
    ran(ctx)?;
    Ok("world")
}
#[svc::mutation(function = "app.rename")]
async fn rename(note_id: i32, name: String) -> i32;
#[svc::mutation]
fn touch(ctx: &Context<'_>) -> Result<bool> {
    ran(ctx)?;
    Ok(true)
}

/// The ways in which a policy ends, and the codes of each; those of a field's failure are in [`code`].
const ENDS: [(&str, &str); 9] = [
    ("allow", ""),
    ("slow", ""),
    ("filters", ""),
    ("deny", "FORBIDDEN"),
    ("code", "CLOSED"),
    ("own", "PAY_FIRST"),
    ("raise", "FORBIDDEN"),
    ("panic", "FORBIDDEN"),
    ("late", "FORBIDDEN"),
];

async fn end(request: &AuthorizationRequest) -> Result<AuthorizationDecision> {
    match request.context().header("x-end").unwrap_or("deny") {
        "allow" => Ok(AuthorizationDecision::allow()),
        "slow" => {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok(AuthorizationDecision::allow())
        }
        "filters" => Ok(AuthorizationDecision::allow_filtered([("tenant", "a")])),
        "code" => Ok(AuthorizationDecision::deny_with("CLOSED", "closed on Sundays")),
        "own" => Err(Error::with_code("PAY_FIRST", "the trial is over")),
        "raise" => Err(Error::internal("the policy has failed")),
        "panic" => panic!("the policy has panicked"),
        "late" => std::future::pending().await,
        _ => Ok(AuthorizationDecision::deny()),
    }
}

async fn behaves(_: &Note, request: AuthorizationRequest) -> Result<AuthorizationDecision> {
    end(&request).await
}

/// The code of an end: a policy that fails on a field has one of its own.
fn code(end: &str, code: &'static str, is_field: bool) -> &'static str {
    match end {
        "raise" | "panic" | "late" if is_field => "FIELD_AUTHORIZATION_ERROR",
        _ => code,
    }
}

const NOTES: &str = "query Notes { notes { id } }";
const TITLES: &str = "query Titles { notes { title } }";
const RENAME: &str = r#"mutation Rename { rename(note_id: 1, name: "new") }"#;

/// A matrix of the ends `ends` for decisions of one kind; those of other kinds allow.
fn matrix<'e>(
    database: &TestDatabase,
    kind: OperationType,
    ran: &Ran,
    ends: impl Iterator<Item = &'e str>,
) -> AuthzMatrix {
    let operations = OperationsConfig { rust_endpoint: true, ..OperationsConfig::default() };
    let policy = move |request: AuthorizationRequest| async move {
        if request.operation_type() == kind { end(&request).await } else { Ok(AuthorizationDecision::allow()) }
    };
    let options = AppOptions::new()
        .config(SvcConfig { operations, ..SvcConfig::default() })
        .database_url(database.url())
        .data(ran.clone())
        .queries(queries![notes, hello])
        .mutations(mutations![rename, touch])
        .operations([
            Operation::new(NOTES).sql("SELECT jsonb_agg(v_note ORDER BY id) AS notes FROM v_note"),
            Operation::new(TITLES).sql("SELECT jsonb_agg(v_note ORDER BY id) AS notes FROM v_note"),
            Operation::new(RENAME).sql("SELECT to_jsonb(app.rename(1, 'new')) AS rename"),
        ])
        .authorizer(policy)
        .authorization_timeout(Duration::from_millis(100));
    let matrix = cases(kind).into_iter().fold(authz_matrix(options), AuthzMatrix::case);
    ends.fold(matrix, |matrix, end| matrix.principal(end, &[("x-end", end)]))
}

fn cases(kind: OperationType) -> Vec<Case> {
    match kind {
        OperationType::Query => {
            vec![Case::new("Query.notes", NOTES).document_id("Notes"), Case::new("Query.hello", "{ hello }")]
        }
        OperationType::Mutation => vec![
            Case::new("Mutation.rename", RENAME).document_id("Rename"),
            Case::new("Mutation.touch", "mutation { touch }"),
        ],
        _ => {
            vec![Case::new("Note.title", TITLES).document_id("Titles"), Case::new("Note.shout", "{ notes { shout } }")]
        }
    }
}

const KINDS: [OperationType; 3] = [OperationType::Query, OperationType::Mutation, OperationType::Field];

#[tokio::test]
async fn each_end_of_a_decision_is_the_same_on_every_way() {
    for kind in KINDS {
        let database = TestDatabase::copy_of("matrix", SQL).await;
        let report = matrix(&database, kind, &Ran::default(), ENDS.iter().map(|(end, _)| *end)).run().await.unwrap();
        assert_eq!(report.problems(), [""; 0], "{report}");
        for case in report.to_json()["cases"].as_array().unwrap() {
            for (end, expected) in ENDS {
                let is_field = kind == OperationType::Field;
                // A filter for what has no rows would be lost.
                let no_rows = case["coordinate"] == "Query.hello" && end == "filters";
                let expected = if no_rows { "FORBIDDEN" } else { code(end, expected, is_field) };
                let codes: Vec<&str> = if expected.is_empty() { Vec::new() } else { vec![expected] };
                let verdict = if expected.is_empty() { "allow" } else { "deny" };
                let found = &case["principals"][end];
                assert_eq!(
                    *found,
                    json!({ "verdict": verdict, "codes": codes }),
                    "{} {end}: {report}",
                    case["coordinate"]
                );
            }
        }
    }
}

#[tokio::test]
async fn what_is_denied_runs_nothing_on_any_way() {
    for kind in KINDS {
        let (database, ran) = (TestDatabase::copy_of("matrix", SQL).await, Ran::default());
        let denials = ENDS.iter().filter(|(_, code)| !code.is_empty()).map(|(end, _)| *end);
        let report = matrix(&database, kind, &ran, denials).run().await.unwrap();
        assert_eq!(report.problems(), [""; 0], "{report}");
        assert_eq!(ran.0.load(Ordering::Relaxed), 0, "{kind}");
        let statements = database.texts("v_note").await;
        match kind {
            // The check of `shout` needs the rows; a denied `title` alone is not read.
            OperationType::Field => {
                let whole = |text: &&String| !text.contains("\"title\"");
                assert!(statements.iter().filter(whole).all(|text| !text.contains("title")), "{statements:?}");
            }
            _ => assert_eq!((statements, database.statements("rename").await), (Vec::new(), 0), "{kind}"),
        }
    }
}

async fn small(policy: Option<fn(&AuthorizationRequest) -> bool>) -> MatrixReport {
    let database = TestDatabase::copy_of("matrix", SQL).await;
    let options = AppOptions::new().database_url(database.url()).data(Ran::default()).queries(queries![notes, hello]);
    let options = match policy {
        Some(policy) => options.authorizer(move |request: AuthorizationRequest| async move { policy(&request) }),
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
async fn the_report_shows_who_may_do_what_and_what_is_open() {
    let report = small(Some(only_known)).await;
    assert_eq!(report.verdict("Note.title", "nobody").unwrap().to_string(), "deny FORBIDDEN");
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
        report.to_string().starts_with("Case         nobody          ada\nQuery.notes  allow           allow\n"),
        "{report}"
    );
    assert_eq!(report.to_json()["coverage"][2], json!({ "coordinate": "Note.id", "rules": [], "isTested": false }));
    let untested: Vec<_> = report.coverage().untested().map(|covered| covered.coordinate.as_str()).collect();
    assert_eq!(untested, ["Query.hello", "Note.shout"]);
    let open = small(None).await;
    let open: Vec<_> = open.coverage().open().map(|covered| covered.coordinate.as_str()).collect();
    assert_eq!(open, ["Query.notes", "Query.hello", "Note.id", "Note.title"]);
}

/// A layer that decides by the way it is asked is what the matrix is there to find.
#[tokio::test]
async fn ways_that_disagree_are_named() {
    use svc::axum::http::Method;
    use svc::axum::middleware::{Next, from_fn};

    let database = TestDatabase::copy_of("matrix", SQL).await;
    let opens_get = |mut request: svc::axum::extract::Request, next: Next| async move {
        if request.method() == Method::GET {
            request.headers_mut().insert("x-user", "everyone".parse().unwrap());
        }
        next.run(request).await
    };
    let options = AppOptions::new().database_url(database.url()).data(Ran::default()).queries(queries![notes, hello]);
    let matrix = authz_matrix(
        options.authorizer(async |request: AuthorizationRequest| request.context().header("x-user").is_some()),
    );
    let matrix = matrix.principal("nobody", &[]).case(Case::new("Query.hello", "{ hello }"));
    let report = matrix.layer(move |router: svc::axum::Router| router.layer(from_fn(opens_get))).run().await.unwrap();
    assert_eq!(
        report.problems(),
        ["Query.hello as nobody: POST /graphql and GET /graphql disagree: deny FORBIDDEN, but allow"]
    );
}

#[tokio::test]
async fn a_case_about_nothing_is_an_error() {
    let options = AppOptions::new().database_url("postgres://nobody@127.0.0.1:1/nothing").queries(queries![hello]);
    let error = authz_matrix(options).case(Case::new("Query.helo", "{ helo }")).run().await.unwrap_err();
    assert!(error.to_string().contains("`Query.helo` is not a field of the schema"), "{error}");
}
