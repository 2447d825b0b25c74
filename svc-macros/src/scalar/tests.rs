use super::expand;
use crate::check::{has, messages};

#[test]
fn the_block_stays_as_it_is() {
    has(
        expand,
        r#"specified_by = "https://example.com""#,
        "#[doc = \" Words.\"] impl ScalarType for my::Slug { anything!(); }",
        &[
            "impl ScalarType for my::Slug { anything!(); }",
            r#"name: "Slug", description: ::core::option::Option::Some("Words.")"#,
            r#"specified_by: ::core::option::Option::Some("https://example.com")"#,
        ],
    );
}

#[test]
fn built_in_names_are_taken() {
    assert_eq!(
        messages(expand, "", "impl ScalarType for Int {}"),
        ["`Int` is GraphQL's own; give the scalar another with `name = \"…\"`"]
    );
}
