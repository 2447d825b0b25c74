//! A service in which everything is refused that can be.

use std::time::Duration;

use svc::authz::{AuthorizationDecision, AuthorizationRequest};
use svc::axum::routing::get;
use svc::prelude::*;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{Limits, create_svc_app, setup_rate_limiting};
use svc_tests::App;

use crate::accounts::service::SECRET;

#[svc_type]
struct Salary {
    id: i32,
    #[svc::requires_role("admin")]
    amount: i32,
}

#[svc_type]
impl Salary {
    fn next(&self) -> Self {
        Self {
            id: self.id + 1,
            amount: 1,
        }
    }
}

#[svc::query]
#[svc::requires_permission("salaries:read")]
fn salaries() -> Vec<Salary> {
    Vec::new()
}

#[svc::query]
fn own_salary() -> Salary {
    Salary { id: 1, amount: 2 }
}

#[svc::query]
fn secret_plan() -> Option<String> {
    None
}

#[svc::query]
fn broken() -> i32 {
    panic!("out of paper")
}

#[svc::query]
async fn never() -> i32 {
    std::future::pending().await
}

pub(super) async fn serve(url: &str) -> App {
    let settings = [
        ("SVC_AUTH_PROVIDER", "native"),
        ("SVC_AUTH_SECRET_KEY", SECRET),
        ("SVC_DATABASE_URL", url),
    ];
    let find = |name: &str| {
        settings
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    svc_tests::secret(SECRET);
    let options = AppOptions::new()
        .config(SvcConfig::from_variables(find).unwrap())
        .limits(Limits {
            depth: 2,
            complexity: 20,
            ..Limits::default()
        })
        // Nothing but `never` takes so long, even where the machine is busy.
        .request_timeout(Some(Duration::from_secs(15)))
        .queries(queries![salaries, own_salary, secret_plan, broken, never])
        .authorizer(
            async |request: AuthorizationRequest| match request.operation_name() {
                "secret_plan" => AuthorizationDecision::deny_with("NOT_YET", "it is secret"),
                _ => AuthorizationDecision::allow(),
            },
        );
    let (one, many) = (
        RateLimit::requests(1).per_hour(),
        RateLimit::requests(1_000).per_minute(),
    );
    let limiting = RateLimiting::new()
        .rules([RateLimitRule::new("/rare", one)])
        .default_limit(many);
    let router = create_svc_app(options)
        .await
        .unwrap()
        .route("/rare", get(async || "rare"));
    App::serve_router(setup_rate_limiting(router, limiting).unwrap()).await
}
