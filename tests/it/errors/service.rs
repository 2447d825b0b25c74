//! A service where everything fails that can.

use svc::async_graphql::{InputValueError, InputValueResult, ScalarType, Value as Const};
use svc::futures_util::{Stream, StreamExt as _, stream};
use svc::prelude::*;
use svc::rate_limit::RateLimiting;
use svc::svc_scalar;
use svc_tests::TestDatabase;

#[svc_enum]
enum Size {
    Small,
}

#[svc_type(sql_source = "v_shirt")]
struct Shirt {
    id: i32,
    size: Size,
    quotient: i32,
}

#[svc::query]
async fn shirts() -> Vec<Shirt>;

/// A scalar whose code has a mistake.
struct Fuse(String);

#[svc_scalar]
impl ScalarType for Fuse {
    fn parse(value: Const) -> InputValueResult<Self> {
        match value {
            Const::String(text) => {
                assert_ne!(text, "boom", "a short circuit");
                Ok(Self(text))
            }
            other => Err(InputValueError::expected_type(other)),
        }
    }
    fn to_value(&self) -> Const {
        Const::from(self.0.as_str())
    }
}

#[svc::query]
fn fuse(fuse: Fuse) -> Fuse {
    fuse
}

#[svc::query]
fn broken() -> Result<Option<i32>> {
    Err(Error::internal("the kettle is broken"))
}

#[svc::query]
fn parsed() -> Result<Option<i32>> {
    Ok(Some("a kettle".parse()?))
}

#[svc::query]
fn lost() -> Result<i32> {
    Err(Error::internal("nobody is told of this"))
}

#[svc::query]
fn panics() -> Option<i32> {
    panic!("the kettle exploded")
}

#[svc::query]
fn fine() -> i32 {
    1
}

/// Events, of which the second has failed.
#[svc::subscription]
fn ticks() -> impl Stream<Item = Result<i32>> {
    stream::iter([Ok(1), Err(Error::internal("the clock stands still"))]).boxed()
}

/// A value that is made for each request.
struct Scope;

pub(super) const SQL: &str = "
    CREATE TABLE tb_shirt (id int PRIMARY KEY, size text);
    INSERT INTO tb_shirt VALUES (1, 'HUGE'), (2, 'SMALL');
    CREATE VIEW v_shirt AS SELECT id, size, 10 / (id - 1) AS quotient FROM tb_shirt;";

/// The options of the service.
pub(super) fn options(database: &TestDatabase, config: SvcConfig) -> AppOptions {
    AppOptions::new()
        .config(SvcConfig {
            environment: svc::Environment::Production,
            ..config
        })
        .database_url(database.url())
        .queries(queries![shirts, fuse, broken, parsed, lost, panics, fine])
        .subscriptions(subscriptions![ticks])
        .request_data(|ctx| {
            let is_broken = ctx.header("x-fails") == Some("scope");
            async move {
                assert!(!is_broken, "the scope has a hole");
                Ok(Scope)
            }
        })
        .rate_limiting(RateLimiting::new().key(|request| {
            assert!(
                request
                    .headers
                    .get("x-fails")
                    .is_none_or(|value| value != "hook"),
                "the hook is bent"
            );
            None
        }))
}

/// Settings with a log of requests.
pub(super) fn logging() -> SvcConfig {
    SvcConfig {
        log: svc::LogConfig {
            requests: true,
            ..svc::LogConfig::default()
        },
        ..SvcConfig::default()
    }
}

/// The lines of requests with this identifier.
pub(super) fn request_lines(log: &svc_tests::Log, id: &str) -> Vec<String> {
    let field = format!("request_id=\"{id}\"");
    let text = log.text();
    text.lines()
        .filter(|line| line.contains("svc::request") && line.contains(&field))
        .map(str::to_owned)
        .collect()
}

/// The one line of a request, which has these parts.
pub(super) fn request_line(log: &svc_tests::Log, id: &str, parts: &[&str]) -> String {
    let lines = request_lines(log, id);
    let [line] = &lines[..] else {
        panic!("{lines:#?} in {}", log.text())
    };
    for part in parts {
        assert!(line.contains(part), "no {part} in {line}");
    }
    line.clone()
}
