//! Tests of `#[svc_type]` on structs.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn a_field_keeps_its_three_names() {
    has(
        expand,
        r#"sql_source = "v_user""#,
        r#"struct User { #[svc(name = "fullName", stored = "full_name")] r#type: String }"#,
        &[
            r#"FieldMeta::new(__svc::ElementMeta::new("type").named("fullName"), "full_name","#,
            "0usize => <String as __svc::FromStored>::field_value(&self.r#type)",
            r#"<String as __svc::FromStored>::take_field(&mut fields, "full_name")?"#,
            "struct User { r#type: String }",
        ],
    );
}

#[test]
fn documentation_is_joined_and_trimmed() {
    has(
        expand,
        "",
        "#[doc = \" A person.\"] #[doc = \"\"] #[doc = \"   code\"] #[doc(hidden)] struct User { id: i32 }",
        &[r#".described("A person.\n\n  code")"#],
    );
}

#[test]
fn the_crate_can_be_elsewhere() {
    has(
        expand,
        "crate = my::svc",
        "struct User { id: i32 }",
        &["use my::svc::__private as __svc;"],
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let item = r#"struct User { #[svc(name = "1", oops)] a: &str, #[svc(skip = true)] b: i32, #[svc(name = "a", name = "c")] c: (i32,) }"#;
    assert_eq!(
        messages(expand, r#"sql_source = "a.b.c", sql_source = "d""#, item),
        [
            "`sql_source` is given twice; keep one",
            "unknown key `oops`; the keys here are `name`, `stored`, `skip` and `non_null`",
            "a field owns its value; write `String`",
            "`1` is not a valid GraphQL name; take another name, of letters, digits and `_`",
            "`skip` takes no value; write `skip` alone",
            "`name` is given twice; keep one",
            "GraphQL has no tuples; write a struct with `#[svc_type]`",
            "`a.b.c` is not the name of a view; write `view` or `schema.view`, with letters, digits, `_` and `$`",
        ]
    );
}

#[test]
fn a_mistake_leaves_the_item_and_a_stub() {
    let (_, output) = crate::family::check::expand(
        expand,
        "",
        "struct User { #[svc(nope)] name: &'static str }",
    );
    assert!(output.starts_with("struct User { name : & 'static str }"));
    assert!(output.contains("SvcType for User"));
    assert!(!output.contains("__SVC_META"));
}

#[test]
fn keys_of_relations_follow_from_names() {
    has(
        expand,
        r#"sql_source = "v_blog_post""#,
        r#"struct BlogPost { #[relation] author: Option<One<User>>, #[relation(from = "key", to = "about")] notes: Many<Note> }"#,
        &[
            r#"from: if <Option<One<User>> as __svc::RelationType>::MANY { &["id"] } else { &["author_id"] },"#,
            r#"to: if <Option<One<User>> as __svc::RelationType>::MANY { &["blog_post_id"] } else { &["id"] },"#,
            r#"from: &["key"], to: &["about"],"#,
            r#"let __svc_notes = <Many<Note> as __svc::RelationType>::read(&fields, &["key"]);"#,
        ],
    );
}

#[test]
fn mistakes_of_relations_name_the_fix() {
    for (field, message) in [
        (
            "#[relation] a: Vec<User>",
            "a relation is read when it is asked for; write `Many<User>`",
        ),
        (
            "#[relation] a: Option<Many<User>>",
            "a relation is read when it is asked for; write `Many<User>`",
        ),
        (
            r#"#[relation(key = "b")] a: One<User>"#,
            "unknown key `key`; the keys here are `from`, `to`, `through`, `here`, `there`, `order_by`, `connection` and `aggregate`",
        ),
        (
            r#"#[relation(from = "")] a: One<User>"#,
            "`from` is empty; name a column or a JSON key",
        ),
        (
            r#"#[relation(from = [])] a: One<User>"#,
            "`from` is empty; name a column or a JSON key",
        ),
        (
            r#"#[relation(from = ["t", "b"])] a: One<User>"#,
            "`from` names 2 keys and `to` 1, but each key is compared with the one in its place; write as many in both, \
             such as `from = [\"tenant_id\", \"product_id\"], to = [\"tenant_id\", \"id\"]`",
        ),
        (
            r#"#[relation(to = "b", to = "c")] a: One<User>"#,
            "`to` is given twice; keep one",
        ),
        (
            r#"#[relation(from)] a: One<User>"#,
            "`from` needs a value; write `from = \"…\"`",
        ),
        (
            r#"#[relation = "author_id"] a: One<User>"#,
            "`#[relation]` takes its keys in parentheses; write `#[relation]` or `#[relation(from = \"…\", to = \"…\")]`",
        ),
        (
            r#"#[svc(stored = "b")] #[relation] a: One<User>"#,
            "a relation is found by its keys; write `#[relation(from = \"…\")]` for the column here",
        ),
        (
            "#[svc(skip)] #[relation] a: One<User>",
            "`a` is skipped; remove `#[relation]`, or remove `skip`",
        ),
    ] {
        assert_eq!(
            messages(expand, "", &format!("struct Post {{ {field} }}")),
            [message],
            "{field}"
        );
    }
}
