//! A service in production says which operations anyone may call.

use svc::prelude::*;
use svc::{Environment, SvcConfig};
use svc_tests::Log;

#[svc::query]
fn open() -> i32 {
    7
}
#[svc::query]
#[svc::requires_auth]
fn closed() -> i32 {
    7
}

const WARNING: &str = "anyone may call these operations";

/// The log of the start.
async fn log(options: AppOptions, environment: Environment) -> String {
    let log = Log::start();
    let config = SvcConfig {
        environment,
        ..SvcConfig::default()
    };
    let options = options
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing");
    drop(create_svc_app(options).await.unwrap());
    log.text()
}

#[tokio::test]
async fn unguarded_operations_are_logged_unless_declared_open() {
    let open = || AppOptions::new().queries(queries![open]);
    let told = log(open(), Environment::Production).await;
    assert!(
        told.contains(WARNING) && told.contains("operations=\"open\""),
        "{told}"
    );
    for (options, environment) in [
        (open(), Environment::Development),
        (open().open_to_everyone(), Environment::Production),
        (open().queries(queries![closed]), Environment::Production),
        (
            open().authorizer(async |_: AuthorizationRequest| true),
            Environment::Production,
        ),
    ] {
        let told = log(options, environment).await;
        assert!(!told.contains(WARNING), "{told}");
    }
}
