//! An authorizer that decides about all gated fields of a document in one call.

use std::iter::repeat_with;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::authz::{AuthorizationCacheConfig, Authorizer, OperationType};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_member", authorize_fields = ["email", "score", "hint", "pin"])]
struct Member {
    id: i32,
    email: Option<String>,
    score: Option<i32>,
    #[svc::requires_auth]
    pin: Option<i32>,
    #[svc::requires_auth]
    phone: Option<String>,
}

#[svc_type]
impl Member {
    fn hint(&self, length: i32) -> Option<String> {
        Some(
            "secret"
                .chars()
                .take(length.try_into().unwrap_or(0))
                .collect(),
        )
    }
}

#[svc::query]
async fn members() -> Vec<Member>;

const SQL: &str =
    "CREATE VIEW v_member AS SELECT 1 AS id, 'a@x'::text AS email, 7 AS score, 4 AS pin,
    '123'::text AS phone;";

/// The behaviour of an authorizer: it may read all but scores and long hints.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Well,
    Short,
    /// Always gives three decisions: the missing ones allow.
    Three,
    Panics,
    Slow,
    Fails,
}

/// The calls that were made: the fields of each.
#[derive(Clone)]
struct Remote(Mood, Arc<Mutex<Vec<String>>>);

fn decide(request: &AuthorizationRequest) -> Result<AuthorizationDecision> {
    let is_long =
        request.operation_name() == "Member.hint" && request.argument::<i32>("length")? > 3;
    Ok(match request.operation_name() {
        "Member.score" => AuthorizationDecision::deny_with("NO_SCORES", "scores are secret"),
        _ if is_long => AuthorizationDecision::deny(),
        _ => AuthorizationDecision::allow(),
    })
}

impl Authorizer for Remote {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        if request.operation_type() == OperationType::Field {
            self.1
                .lock()
                .unwrap()
                .push(format!("one {}", request.operation_name()));
        }
        decide(&request)
    }

    async fn authorize_batch(
        &self,
        requests: Vec<AuthorizationRequest>,
    ) -> Option<Vec<Result<AuthorizationDecision>>> {
        let name = |request: &AuthorizationRequest| {
            let arguments: Vec<_> = request
                .arguments()
                .values()
                .map(ToString::to_string)
                .collect();
            format!("{}({})", request.operation_name(), arguments.join(", "))
        };
        self.1
            .lock()
            .unwrap()
            .push(requests.iter().map(name).collect::<Vec<_>>().join(" "));
        match self.0 {
            Mood::Well => {}
            Mood::Short => return Some(vec![Ok(AuthorizationDecision::allow())]),
            Mood::Three => {
                let allow = || Ok(AuthorizationDecision::allow());
                let decided = requests.iter().map(decide);
                return Some(decided.chain(repeat_with(allow)).take(3).collect());
            }
            Mood::Panics => panic!("the policy service is away"),
            Mood::Slow => std::future::pending().await,
            Mood::Fails => {
                return Some(
                    requests
                        .iter()
                        .map(|_| Err(Error::internal("away")))
                        .collect(),
                );
            }
        }
        Some(requests.iter().map(decide).collect())
    }
}

async fn serve(
    mood: Mood,
    change: impl FnOnce(AppOptions) -> AppOptions,
) -> (App, Arc<Mutex<Vec<String>>>) {
    let database = TestDatabase::copy_of("batch", SQL).await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let config = SvcConfig {
        authorization_timeout: std::time::Duration::from_millis(200),
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(database.url())
        .queries(queries![members]);
    (
        App::serve(change(options.authorizer(Remote(mood, asked.clone())))).await,
        asked,
    )
}

/// The answer without the fields of errors that are the same everywhere.
fn parts(answer: &Value) -> (Value, Vec<(String, String)>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    let code_and_field = |error: &Value| {
        (
            text(&error["extensions"]["code"]),
            text(&error["extensions"]["field"]),
        )
    };
    let mut found: Vec<_> = errors.iter().map(code_and_field).collect();
    found.sort();
    (answer["data"].clone(), found)
}

const QUERY: &str =
    "{ members(where: {email: {neq: \"b\"}}) { email score again: score hint(length: 2) long: hint(length: 9) }
    others: members(order_by: [{email: ASC}]) { hint(length: 2) } }";

fn expected_errors(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter()
        .map(|(code, field)| ((*code).to_owned(), (*field).to_owned()))
        .collect()
}

#[tokio::test]
async fn gated_fields_of_a_document_are_decided_in_one_call() {
    let (app, asked) = serve(Mood::Well, |options| options).await;
    let (data, errors) = parts(&app.query(QUERY).await.json());
    let row = json!({ "email": "a@x", "score": null, "again": null, "hint": "se", "long": null });
    assert_eq!(
        data,
        json!({ "members": [row], "others": [{ "hint": "se" }] })
    );
    let expected = [
        ("FORBIDDEN", "Member.hint"),
        ("NO_SCORES", "Member.score"),
        ("NO_SCORES", "Member.score"),
    ];
    assert_eq!(errors, expected_errors(&expected));
    let calls = asked.lock().unwrap().clone();
    let mut fields: Vec<_> = calls[0].split(' ').collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "Member.email()",
            "Member.hint(2)",
            "Member.hint(9)",
            "Member.score()"
        ],
        "{calls:?}"
    );
    assert_eq!(calls.len(), 1, "{calls:?}");
    app.query("{ members { id } }").await;
    assert_eq!(asked.lock().unwrap().len(), 1, "nothing gated is asked for");
}

/// A guard denies a field that the authorizer would allow, and the authorizer is not called for
/// fields that only have a guard.
#[tokio::test]
async fn guards_decide_before_the_batch_authorizer() {
    let (app, asked) = serve(Mood::Well, |options| options).await;
    let (data, errors) = parts(&app.query("{ members { email pin phone } }").await.json());
    assert_eq!(
        data,
        json!({ "members": [{ "email": "a@x", "pin": null, "phone": null }] })
    );
    let denied = "UNAUTHENTICATED";
    assert_eq!(
        errors,
        expected_errors(&[(denied, "Member.phone"), (denied, "Member.pin")])
    );
    assert_eq!(*asked.lock().unwrap(), ["Member.email()"]);
}

#[tokio::test]
async fn a_failed_batch_call_denies_all_fields() {
    for mood in [Mood::Short, Mood::Panics, Mood::Slow, Mood::Fails] {
        let (app, _) = serve(mood, |options| options).await;
        let (data, errors) = parts(&app.query("{ members { id email score } }").await.json());
        assert_eq!(
            data,
            json!({ "members": [{ "id": 1, "email": null, "score": null }] })
        );
        let failed = "FIELD_AUTHORIZATION_ERROR";
        assert_eq!(
            errors,
            expected_errors(&[(failed, "Member.email"), (failed, "Member.score")])
        );
    }
}

#[tokio::test]
async fn cached_decisions_are_not_requested_again() {
    let cache = AuthorizationCacheConfig::new(|_| Some("ada".to_owned()));
    let (app, asked) = serve(Mood::Well, |options| options.authorization_cache(cache)).await;
    let first = app.query("{ members { id email } }").await.text;
    assert_eq!(app.query("{ members { id email } }").await.text, first);
    let (data, errors) = parts(
        &app.query("{ members { email score hint(length: 3) } }")
            .await
            .json(),
    );
    assert_eq!(
        data,
        json!({ "members": [{ "email": "a@x", "score": null, "hint": "sec" }] })
    );
    assert_eq!(errors, expected_errors(&[("NO_SCORES", "Member.score")]));
    app.query("{ members { score } }").await;
    assert_eq!(
        *asked.lock().unwrap(),
        ["Member.email()", "Member.score() Member.hint(3)"]
    );
}

/// One of three decisions is cached, so three new ones are one too many.
#[tokio::test]
async fn a_wrong_number_of_decisions_denies_all_fields() {
    let cache = AuthorizationCacheConfig::new(|_| Some("ada".to_owned()));
    let options = |options: AppOptions| options.authorization_cache(cache);
    let (app, asked) = serve(Mood::Three, options).await;
    let known = "{ members { email short: hint(length: 1) hint(length: 2) } }";
    assert_eq!(
        parts(&app.query(known).await.json()).1,
        expected_errors(&[])
    );

    let query = "{ members { id email score hint(length: 9) } }";
    let (data, errors) = parts(&app.query(query).await.json());
    assert_eq!(
        data,
        json!({ "members": [{ "id": 1, "email": null, "score": null, "hint": null }] })
    );
    let failed = "FIELD_AUTHORIZATION_ERROR";
    assert_eq!(
        errors,
        expected_errors(&[
            (failed, "Member.email"),
            (failed, "Member.hint"),
            (failed, "Member.score")
        ])
    );
    assert_eq!(
        asked.lock().unwrap().last().unwrap(),
        "Member.score() Member.hint(9)"
    );
}

/// A dry-run rule is evaluated beside the call, and changes nothing.
#[tokio::test]
async fn a_dry_run_rule_does_not_split_the_batch_call() {
    let (app, asked) = serve(Mood::Well, |options| {
        options.dry_run("none", async |_: AuthorizationRequest| false)
    })
    .await;
    let (data, _) = parts(
        &app.query("{ members { email hint(length: 1) } }")
            .await
            .json(),
    );
    assert_eq!(
        data,
        json!({ "members": [{ "email": "a@x", "hint": "s" }] })
    );
    assert_eq!(*asked.lock().unwrap(), ["Member.email() Member.hint(1)"]);
}
