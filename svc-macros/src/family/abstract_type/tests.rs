//! Tests of `#[svc_interface]` and `#[svc_union]`.

use super::{interface, union};
use crate::family::check::{has, messages};

#[test]
fn an_interface_lists_its_fields() {
    has(
        interface,
        r#"sql_source = "v_node", fields(#[doc = " Never reused."] id: Uuid, #[svc(name = "at")] r#in: Option<Time>)"#,
        "enum Node { User(User), Post(Post) }",
        &[
            r#"ElementMeta::new("id").described("Never reused.")"#,
            r#"ElementMeta::new("in").named("at")"#,
            "<Post as __svc::Object>::key",
        ],
    );
}

#[test]
fn a_union_has_no_fields() {
    has(
        union,
        "",
        "enum Any { User(User) }",
        &["interface: ::core::option::Option::None"],
    );

    assert_eq!(
        messages(union, "fields(id: Uuid)", "enum Any { User(User) }"),
        ["a union promises no fields; remove this, or use `#[svc_interface]`"]
    );
}

#[test]
fn every_bad_member_is_reported() {
    assert_eq!(
        messages(interface, "", "enum Any { A, B { b: B }, C(C), D(C) }"),
        [
            "an interface promises fields; write `fields(id: Uuid, …)`, or use `#[svc_union]`",
            "a member carries its object; write `A(A)`, or use `#[svc_enum]` for plain values",
            "a member carries one object; write `B(B)`",
            "`C` is a member already, as `C`; remove `D`",
        ]
    );
}
