//! Types of the program that have the names of types that svc makes.

use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: i32,
}

/// A name that is taken as soon as users are listed.
#[svc_input]
struct UserWhere {
    id: i32,
}

#[svc::query]
async fn users() -> Vec<User>;

#[svc::query]
fn taken(filter: UserWhere) -> i32 {
    filter.id
}

#[test]
fn both_items_of_a_name_clash_are_named() {
    let error = AppOptions::new()
        .queries(queries![users, taken])
        .sdl()
        .unwrap_err()
        .to_string();
    let here = module_path!();
    let (own, made) = (
        format!("`{here}::UserWhere`"),
        format!("`svc's UserWhere, made for {here}::User`"),
    );
    for part in [
        "the GraphQL type `UserWhere` is declared twice",
        &own,
        &made,
        "rename one with `name = \"…\"`",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(error.matches("declared twice").count(), 1, "{error}");
}
