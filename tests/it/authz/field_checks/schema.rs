//! Fields with checks in the schema: no input has them, and the log of the start names them.

use svc::prelude::*;
use svc_tests::Log;

use super::{Person, Ran, beings, database, options, page, people, statistics};

#[test]
fn checked_fields_are_absent_from_inputs_and_aggregates() {
    let sdl = AppOptions::new()
        .queries(queries![people, page, statistics, beings])
        .data(Ran::default())
        .sdl()
        .unwrap_or_else(|error| panic!("{error}"));
    for part in sdl
        .split("\n}\n")
        .filter(|part| part.contains("input ") || part.contains("type PersonM"))
    {
        for field in ["email", "phone", "salary", "mood", "boss"] {
            assert!(!part.contains(&format!("  {field}:")), "{part}");
        }
    }
    assert!(
        sdl.contains("input PersonWhere")
            && sdl.contains("type PersonGroupKey")
            && sdl.contains("input BeingWhere")
    );
    let key = sdl
        .split("type PersonGroupKey {")
        .nth(1)
        .unwrap()
        .split('}')
        .next()
        .unwrap();
    assert!(key.contains("name: ") && !key.contains("email"), "{key}");
}

#[tokio::test]
async fn the_startup_log_names_the_checked_fields() {
    let database = database().await;
    let log = Log::everything();
    drop(create_svc_app(options(&database)).await.unwrap());
    let told = log.text();
    assert!(
        told.contains("Person.email, Person.phone, Person.salary"),
        "{told}"
    );
}

#[svc::query(name = "people")]
async fn by_email(email: String) -> Vec<Person>;

#[test]
fn an_argument_compared_with_a_checked_field_is_refused() {
    let error = AppOptions::new()
        .queries(queries![by_email])
        .sdl()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the argument `email` of") && error.contains("`authorize_field`"),
        "{error}"
    );
}
