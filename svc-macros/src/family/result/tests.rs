//! Tests of `#[svc_result]`.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn an_enum_becomes_three_types() {
    has(
        expand,
        "",
        "#[derive(Debug)] pub enum CreateUserResult { /// Well.\n Success { user: Option<User>, cascade: Option<Json> }, Error }",
        &[
            "#[derive(Debug)] #[doc = \" Well.\"] pub struct CreateUserResultSuccess {",
            "pub updated_fields: ::core::option::Option<::std::vec::Vec<::std::string::String>>",
            "pub user: Option<User>, pub cascade: Option<Json>",
            "pub struct CreateUserResultError {",
            "pub errors: ::std::vec::Vec<::svc::__private::MutationError>",
            "Success(CreateUserResultSuccess)",
            r#"success: __svc::ResultMember { name: "CreateUserSuccess", entity: ::core::option::Option::Some("user") }"#,
            r#"error: __svc::ResultMember { name: "CreateUserError", entity: ::core::option::Option::None }"#,
            "pub fn new(status: impl ::core::convert::Into<::std::string::String>, user: Option<User>, cascade: Option<Json>)",
            "fields: &[__svc::ERROR_STATUS, __svc::ERROR_MESSAGE, __svc::ERROR_CODE, __svc::ERROR_ERRORS],",
            "impl ::core::convert::From<CreateUserResultError> for CreateUserResult",
        ],
    );
}

#[test]
fn members_can_be_named() {
    has(
        expand,
        "",
        r#"enum Made { #[svc(name = "UserMade")] Success, Error }"#,
        &[
            "struct MadeSuccess",
            r#".named("UserMade")"#,
            r#"ResultMember { name: "UserMade""#,
        ],
    );
}

#[test]
fn a_result_can_declare_the_field_query() {
    has(
        expand,
        "query",
        "enum R { Success, Error { query: i32 } }",
        &["query: true }", "pub query: i32"],
    );
    has(
        expand,
        "",
        "enum R { Success { query: i32 }, Error }",
        &["query: false }", "pub query: i32"],
    );

    assert_eq!(
        messages(expand, "query", "enum R { Success { query: i32 }, Error }"),
        ["every success has the field `query` by itself; remove it"]
    );
    assert_eq!(
        messages(expand, "query = true", "enum R { Success, Error }"),
        ["`query` takes no value; write `query` alone"]
    );
}

#[test]
fn every_mistake_is_reported() {
    assert_eq!(
        messages(
            expand,
            "entity = User",
            "enum R { Success(User), Error { code: i32 }, Maybe }"
        ),
        [
            "write the entity as the first field of `Success`, as in `Success { user: User }`",
            "fields need names in GraphQL; write `Success { user: User }`",
            "every error has the field `code` by itself; remove it",
            "a result has the members `Success` and `Error`; `Maybe` is neither",
        ]
    );

    assert_eq!(
        messages(expand, "", "enum R { Success }"),
        ["`R` has no `Error`; write `Error,` or `Error { … }`"]
    );
}
