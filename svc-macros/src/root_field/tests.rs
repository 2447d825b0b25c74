//! Tests of `#[svc::query]` and `#[svc::mutation]`.

use super::{mutation, query};
use crate::check::{expand, has, messages};

#[test]
fn a_function_without_a_body_becomes_a_plan() {
    let item = "pub fn users(#[doc = \" Which.\"] role: Option<Role>) -> Vec<User>;";
    has(
        query,
        r#"name = "people""#,
        item,
        &[
            "pub struct users {}",
            "shape: <Vec<User> as __svc::PlannedReturn>::SHAPE",
            r#".described("Which.")"#,
            r#".named("people")"#,
            "impl __svc::Query for users",
        ],
    );
    assert!(!expand(query, "", item).1.contains("fn users"));
}

#[test]
fn a_body_stays_as_it_is() {
    has(
        mutation,
        "",
        "async fn ping(ctx: &Context<'_>, #[svc(name = \"n\")] mut n: i32) -> bool { n += 1; n > 0 }",
        &[
            "async fn ping(ctx: &Context<'_>, mut n: i32) -> bool { n += 1; n > 0 }",
            "outcome(ping(context, arg0).await)",
            "kind: __svc::OperationKind::Mutation",
        ],
    );
}

#[test]
fn every_bad_parameter_is_reported() {
    assert_eq!(
        messages(query, "", "async fn bad<T>(ctx: Context<'_>, _: i32, a: &[u8], b: impl Sized) {}"),
        [
            "a resolver cannot be generic; write the concrete type where the parameter is used",
            "a field must answer with something; add a return type, such as `-> bool`",
            "take the context as `ctx: &Context<'_>`",
            "an argument needs a plain name, such as `id: Uuid`; take values apart in the body",
            "an argument owns its value; write `Vec<u8>`",
            "the schema needs to know the type; write a concrete type instead of `impl …`",
        ]
    );
}

#[test]
fn a_guard_is_never_dropped_in_silence() {
    has(query, "", "#[requires_auth] fn users() -> Vec<User>;", &["guards: &[__svc::Guard::Auth]"]);
    assert_eq!(
        messages(query, "", "#[requires_luck] fn users() -> Vec<User>;"),
        ["this attribute does nothing on a function without a body; remove it, or write a body"]
    );
}

#[test]
fn a_mutation_needs_a_body_or_a_function() {
    assert_eq!(
        messages(mutation, "", "fn f() -> bool;"),
        [
            "a mutation calls a function or has a body; write `#[svc::mutation(function = \"schema.name\")]`, or `{ … }` instead of the `;`"
        ]
    );
}

#[test]
fn a_function_of_the_database_needs_no_body() {
    has(
        mutation,
        r#"function = "app.create_user", context = ["tenant_id"]"#,
        "async fn create_user(input: NewUser, times: Option<i32>) -> CreateUserResult;",
        &[
            r#"name: "app.create_user", context: &["tenant_id"]"#,
            "checks: &[__svc::check_input::<NewUser>, __svc::check_input::<Option<i32> >]",
            "<CreateUserResult as __svc::FunctionReturn>::type_ref",
        ],
    );
}

#[test]
fn a_function_and_a_body_exclude_each_other() {
    assert_eq!(
        messages(mutation, r#"function = "app.f""#, "fn f() -> bool { true }"),
        ["a mutation has a body or calls a function; write `;` instead of the body, or remove this"]
    );
    assert_eq!(
        messages(mutation, r#"function = "app.f()""#, "fn f() -> bool;"),
        [
            "`app.f()` is not the name of a function; write `function` or `schema.function`, with letters, digits, `_` and `$`"
        ]
    );
    assert_eq!(
        messages(query, r#"function = "app.f""#, "fn f() -> bool;"),
        ["a query reads views; only `#[svc::mutation]` calls a function"]
    );
    assert_eq!(
        messages(mutation, r#"context = ["tenant_id"]"#, "fn f() -> bool { true }"),
        ["only a function of the database gets these; add `function = \"schema.name\"`"]
    );
}
