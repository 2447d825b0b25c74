//! Tests of `#[svc_input]`.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn a_struct_takes_its_fields_by_rust_name() {
    has(
        expand,
        "",
        r#"struct NewUser { #[svc(name = "fullName", default = "x")] full_name: String }"#,
        &[
            r#"default: ::core::option::Option::Some("\"x\"")"#,
            "one_of: false",
            r#"take_filled::<String>(&mut fields, "full_name")?"#,
        ],
    );
}

#[test]
fn a_blank_text_is_accepted_where_the_field_allows_it() {
    has(
        expand,
        "",
        "struct Search { #[svc(allow_blank)] word: String }",
        &[r#"take::<String>(&mut fields, "word")?"#],
    );
}

#[test]
fn an_enum_has_nullable_fields_in_snake_case() {
    has(
        expand,
        "",
        "enum UserBy { Id(Uuid), EMail(String) }",
        &[
            "one_of: true",
            r#"ElementMeta::new("e_mail")"#,
            "nullable(<Uuid as __svc::Input>::type_ref(registry))",
            r#""id" => Self::Id"#,
        ],
    );
}

#[test]
fn malformed_variants_are_reported_with_a_fix() {
    assert_eq!(
        messages(
            expand,
            "",
            "enum UserBy { Me, Name(String, String), #[svc(default = 1)] Age(i32) }"
        ),
        [
            "`Me` has no type; write `Me(Uuid)`, or use `#[svc_enum]` for plain values",
            "a variant has one type; put more into a struct with `#[svc_input]`, as in `Name(NameInput)`",
            "exactly one variant is given, so none has a default; remove `default = 1`",
        ]
    );
}
