//! Tests of `#[svc::test]`.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn a_function_becomes_a_test() {
    has(
        expand,
        r#"setup = ["db/schema", "db/seeds"], sql = SCHEMA, role = "app""#,
        "/// It works.\n #[should_panic] async fn works(database: Database) -> Result<()> { Ok(()) }",
        &[
            "#[doc = \" It works.\"] #[should_panic] #[::core::prelude::v1::test] fn works() -> Result<()> {",
            "async fn works(database: Database) -> Result<()> { Ok(()) }",
            "use ::svc::__private as __svc;",
            r#"setup: |setup| setup.path("db/schema").path("db/seeds").sql(SCHEMA).role("app")"#,
            "__svc::run_test(&case, works)",
        ],
    );

    has(
        expand,
        r#"setup = "db", crate = framework"#,
        "async fn f(d: Database) { }",
        &["use framework::__private as __svc;", r#"setup.path("db")"#],
    );
}

#[test]
fn every_mistake_is_reported() {
    assert!(
        messages(expand, "", "async fn f() { }")[0].contains("`database: svc::testing::Database`")
    );
    let many = "#[tokio::test] fn f<T>(database: Database, other: Database) { }";
    assert_eq!(
        messages(expand, r#"role = "App", migrations = "db""#, many).len(),
        6
    );
}
