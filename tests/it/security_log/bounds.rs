//! The bounds of what one request can have written.

use serde_json::{Value, json};
use svc::authz::{AuthorizationDecision, AuthorizationRequest};
use svc::prelude::*;
use svc::{DatabaseConfig, Limits, SecurityLogConfig, get_security_logger, init_security_logger};
use svc_tests::App;

use super::files::{PATIENCE, events};
use svc_tests::is_alone;

const NAME: &str = "a_request_has_at_most_twenty_events";

#[svc::query]
fn optional(n: i32) -> Option<i32> {
    Some(n)
}

#[svc::query]
fn required(n: i32) -> i32 {
    n
}

/// Denies each call with a reason of its own.
async fn serve() -> App {
    let url = Some("postgres://nobody@127.0.0.1:1/nothing".to_owned());
    let database = DatabaseConfig {
        url,
        ..DatabaseConfig::default()
    };
    let options = AppOptions::new().config(SvcConfig {
        database,
        ..SvcConfig::default()
    });
    let options = options
        .queries(queries![optional, required])
        .limits(Limits {
            root_fields: 90,
            ..Limits::default()
        });
    App::serve(options.authorizer(async |request: AuthorizationRequest| {
        let n = request.argument::<i32>("n").unwrap_or_default();
        AuthorizationDecision::deny_with("NO", format!("not {n}"))
    }))
    .await
}

/// Equal errors are one event, and the last of twenty counts those beyond: also where the answer
/// ends at the first error, as its field cannot be null.
#[tokio::test]
async fn a_request_has_at_most_twenty_events() {
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    init_security_logger(SecurityLogConfig {
        path: Some(path.clone()),
        stdout: false,
    });
    let app = serve().await;
    for (at, field) in ["optional", "required"].into_iter().enumerate() {
        let all: String = (0..90)
            .map(|n| format!("a{n}: {field}(n: {}) ", n % 30))
            .collect();
        app.query(&format!("{{ {all} }}")).await;
        assert!(get_security_logger().flush(PATIENCE));
        let found = events(&path).split_off(at * 20);
        assert_eq!(found.len(), 20, "{field}");
        let reasons: Vec<_> = found.iter().map(|event| event["reason"].clone()).collect();
        assert_eq!(
            reasons,
            (0..20)
                .map(|n| Value::from(format!("not {n}")))
                .collect::<Vec<_>>()
        );
        assert_eq!(found[0]["metadata"], json!({ "code": "NO", "times": 3 }));
        assert_eq!(
            found[19]["metadata"],
            json!({ "code": "NO", "times": 3, "more": 30 })
        );
    }
}
