//! Whatever becomes of a decision, it is the same on every way to an answer, and what is denied
//! runs nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use svc::authz::OperationType;
use svc::futures_util::stream;
use svc::prelude::*;
use svc::testing::{AuthzMatrix, Case, authz_matrix};
use svc::{Operation, OperationsConfig, ProtectionConfig};
use svc_tests::TestDatabase;

pub(super) const SQL: &str = "CREATE TABLE tb_note (id int PRIMARY KEY, tenant text, title text);
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
pub(super) struct Ran(Arc<AtomicU32>);

fn ran(ctx: &Context<'_>) -> Result<i32> {
    Ok(ctx
        .data::<Ran>()?
        .0
        .fetch_add(1, Ordering::Relaxed)
        .try_into()?)
}

#[svc::query]
pub(super) async fn notes() -> Vec<Note>;
#[svc::query]
pub(super) fn hello(ctx: &Context<'_>) -> Result<&'static str> {
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
#[svc::subscription(channel = "note_changed")]
async fn note_changed() -> Note;
#[svc::subscription]
fn greetings(ctx: &Context<'_>) -> Result<impl Stream<Item = &'static str> + use<>> {
    ran(ctx)?;
    Ok(stream::iter(["hello"]))
}

/// The ways in which a policy ends, and the codes of each; those of a field's failure are in
/// [`code`].
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
        "code" => Ok(AuthorizationDecision::deny_with(
            "CLOSED",
            "closed on Sundays",
        )),
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
const CHANGED: &str = "subscription Changed { note_changed { id } }";
const CHANGED_TITLES: &str = "subscription ChangedTitles { note_changed { title } }";
const RENAME: &str = r#"mutation Rename { rename(note_id: 1, name: "new") }"#;

/// A matrix of the ends `ends` for decisions of one kind; those of other kinds allow.
fn matrix<'e>(
    database: &Arc<TestDatabase>,
    kind: OperationType,
    ran: &Ran,
    ends: impl Iterator<Item = &'e str>,
) -> AuthzMatrix {
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let protection = ProtectionConfig {
        batch_max: 2,
        ..ProtectionConfig::default()
    };
    let policy = move |request: AuthorizationRequest| async move {
        if request.operation_type() == kind {
            end(&request).await
        } else {
            Ok(AuthorizationDecision::allow())
        }
    };
    let options = AppOptions::new()
        .config(SvcConfig {
            operations,
            protection,
            ..SvcConfig::default()
        })
        .database_url(database.url())
        .data(ran.clone())
        .queries(queries![notes, hello])
        .mutations(mutations![rename, touch])
        .subscriptions(subscriptions![note_changed, greetings])
        .operations([
            Operation::new(CHANGED),
            Operation::new(CHANGED_TITLES),
            Operation::new(NOTES).sql("SELECT jsonb_agg(v_note ORDER BY id) AS notes FROM v_note"),
            Operation::new(TITLES).sql("SELECT jsonb_agg(v_note ORDER BY id) AS notes FROM v_note"),
            Operation::new(RENAME).sql("SELECT to_jsonb(app.rename(1, 'new')) AS rename"),
        ])
        .authorizer(policy)
        .authorization_timeout(Duration::from_millis(100));
    let matrix = cases(kind, database)
        .into_iter()
        .fold(authz_matrix(options), AuthzMatrix::case);
    ends.fold(matrix, |matrix, end| {
        matrix.principal(end, &[("x-end", end)])
    })
}

fn cases(kind: OperationType, database: &Arc<TestDatabase>) -> Vec<Case> {
    let changed = |coordinate: &str, document: &str| {
        let database = database.clone();
        Case::new(coordinate, document).event(move || {
            let database = database.clone();
            async move {
                database
                    .execute(r#"SELECT pg_notify('note_changed', '{"id": 1, "op": "update"}')"#)
                    .await;
                Ok(())
            }
        })
    };
    match kind {
        OperationType::Query => {
            vec![
                Case::new("Query.notes", NOTES).document_id("Notes"),
                Case::new("Query.hello", "{ hello }"),
            ]
        }
        OperationType::Mutation => vec![
            Case::new("Mutation.rename", RENAME).document_id("Rename"),
            Case::new("Mutation.touch", "mutation { touch }"),
        ],
        OperationType::Subscription => vec![
            changed("Subscription.note_changed", CHANGED).document_id("Changed"),
            Case::new("Subscription.greetings", "subscription { greetings }"),
        ],
        _ => vec![
            Case::new("Note.title", TITLES).document_id("Titles"),
            Case::new("Note.shout", "{ notes { shout } }"),
            changed("Note.title", CHANGED_TITLES).document_id("ChangedTitles"),
            changed("Note.shout", "subscription { note_changed { shout } }"),
        ],
    }
}

const KINDS: [OperationType; 4] = [
    OperationType::Query,
    OperationType::Mutation,
    OperationType::Subscription,
    OperationType::Field,
];

#[tokio::test]
async fn each_outcome_of_a_decision_is_the_same_on_every_transport() {
    for kind in KINDS {
        let database = Arc::new(TestDatabase::copy_of("matrix", SQL).await);
        let report = matrix(
            &database,
            kind,
            &Ran::default(),
            ENDS.iter().map(|(end, _)| *end),
        )
        .run()
        .await
        .unwrap();
        assert_eq!(report.problems(), [""; 0], "{report}");
        for case in report.to_json()["cases"].as_array().unwrap() {
            for (end, expected) in ENDS {
                let is_field = kind == OperationType::Field;
                // A filter for a query that has no rows would be lost.
                let expected = if case["coordinate"] == "Query.hello" && end == "filters" {
                    "FORBIDDEN"
                } else {
                    code(end, expected, is_field)
                };
                let codes: Vec<&str> = if expected.is_empty() {
                    Vec::new()
                } else {
                    vec![expected]
                };
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
async fn denied_operations_run_no_sql_on_any_transport() {
    for kind in KINDS {
        let (database, ran) = (
            Arc::new(TestDatabase::copy_of("matrix", SQL).await),
            Ran::default(),
        );
        let denials = ENDS
            .iter()
            .filter(|(_, code)| !code.is_empty())
            .map(|(end, _)| *end);
        let report = matrix(&database, kind, &ran, denials).run().await.unwrap();
        assert_eq!(report.problems(), [""; 0], "{report}");
        assert_eq!(ran.0.load(Ordering::Relaxed), 0, "{kind}");
        let statements = database.texts("v_note").await;
        match kind {
            // The check of `shout` needs the rows; a denied `title` alone is not read.
            OperationType::Field => {
                let whole = |text: &&String| !text.contains("\"title\"");
                assert!(
                    statements
                        .iter()
                        .filter(whole)
                        .all(|text| !text.contains("title")),
                    "{statements:?}"
                );
            }
            _ => assert_eq!(
                (statements, database.statements("rename").await),
                (Vec::new(), 0),
                "{kind}"
            ),
        }
    }
}
