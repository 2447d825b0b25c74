//! Tests of `#[svc_scalar]`.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn the_block_keeps_its_body() {
    has(
        expand,
        r#"specified_by = "https://example.com""#,
        "#[doc = \" Words.\"] impl ScalarType for my::Slug { anything!(); }",
        &[
            "#[doc = \" Words.\"] impl ScalarType for my::Slug where",
            "where for<'__svc> my::Slug: ::core::marker::Send + ::core::marker::Sync { anything!(); }",
            r#"name: "Slug", description: __svc::ElementMeta::new("Slug").described("Words.").description,"#,
            r#"specified_by: ::core::option::Option::Some("https://example.com")"#,
        ],
    );
}

#[test]
fn the_sql_type_is_a_plain_name() {
    has(
        expand,
        r#"sql_type = "double precision""#,
        "impl ScalarType for A {}",
        &[r#"sql_type: "double precision""#],
    );

    has(
        expand,
        "",
        "impl ScalarType for A {}",
        &[r#"sql_type: "text""#],
    );

    for wrong in [
        "",
        "Text",
        "text[]",
        "varchar(10)",
        "numeric(10, 2)",
        "a.b.c",
        "text; DROP",
        "1a",
        "a..b",
        "a  b",
    ] {
        let wrong = format!("sql_type = {wrong:?}");
        assert_eq!(
            messages(expand, &wrong, "impl ScalarType for A {}"),
            [
                "`sql_type` is the name of a PostgreSQL type in lower case, such as `\"numeric\"` or `\"app.mood\"`"
            ]
        );
    }
}

#[test]
fn built_in_names_are_taken() {
    assert_eq!(
        messages(expand, "", "impl ScalarType for Int {}"),
        ["`Int` is GraphQL's own; give the scalar another with `name = \"…\"`"]
    );
}
