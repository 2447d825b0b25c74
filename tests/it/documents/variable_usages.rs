//! The rule "All Variable Usages Are Allowed" where a default is null. The cases that are refused
//! and those that pass are those of the reference implementation.

use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_input]
struct Wish {
    text: String,
    #[svc(default = 3)]
    count: i32,
}

#[svc::query]
fn hello(
    name: String,
    #[svc(default = "x")] from: String,
    wishes: Option<Vec<String>>,
    wish: Option<Wish>,
) -> String {
    let wish = wish.map(|wish| format!("{}{}", wish.text, wish.count));
    format!(
        "{name}{from}{}{}",
        wishes.unwrap_or_default().join(","),
        wish.unwrap_or_default()
    )
}

#[tokio::test]
async fn a_null_default_does_not_make_a_variable_non_null() {
    let url = TestDatabase::empty().await;
    let app = App::serve(AppOptions::new().database_url(url).queries(queries![hello])).await;
    for (document, passes) in [
        (
            "query ($n: String = null) { __type(name: $n) { name } }",
            false,
        ),
        ("query ($n: String) { __type(name: $n) { name } }", false),
        (
            "query ($n: String = \"Query\") { __type(name: $n) { name } }",
            true,
        ),
        ("query ($n: String!) { __type(name: $n) { name } }", true),
        (
            "query ($n: String = null) { ...f } fragment f on Query { t: __type(name: $n) { name } }",
            false,
        ),
        (
            "query ($b: Boolean = null) { __schema { types { fields(includeDeprecated: $b) { name } } } }",
            true,
        ),
        (
            "query ($b: Boolean = null) { __typename @skip(if: $b) }",
            false,
        ),
        (
            "query ($b: Boolean = null) { ... @include(if: $b) { __typename } }",
            false,
        ),
        (
            "query ($b: Boolean = null) { ...f @include(if: $b) } fragment f on Query { __typename }",
            false,
        ),
        (
            "query ($b: Boolean = false) { a: __typename b: __typename @skip(if: $b) }",
            true,
        ),
        ("query ($n: String = null) { hello(name: $n) }", false),
        ("query ($n: String = \"a\") { hello(name: $n) }", true),
        // The place has a default.
        (
            "query ($n: String = null) { hello(name: \"a\", from: $n) }",
            true,
        ),
        ("query ($n: String) { hello(name: \"a\", from: $n) }", true),
        // The elements of a list have none.
        (
            "query ($n: String = null) { hello(name: \"a\", wishes: [$n]) }",
            false,
        ),
        (
            "query ($n: String = \"a\") { hello(name: \"a\", wishes: [$n]) }",
            true,
        ),
        (
            "query ($n: [String!] = null) { hello(name: \"a\", wishes: $n) }",
            true,
        ),
        (
            "query ($n: [String] = null) { hello(name: \"a\", wishes: $n) }",
            false,
        ),
        (
            "query ($n: String = null) { hello(name: \"a\", wish: {text: $n}) }",
            false,
        ),
        (
            "query ($n: Int = null) { hello(name: \"a\", wish: {text: \"b\", count: $n}) }",
            true,
        ),
        (
            "query ($w: Wish = null) { hello(name: \"a\", wish: $w) }",
            true,
        ),
    ] {
        let reply = app.query(document).await;
        let refused =
            reply.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED";
        assert_eq!(!refused, passes, "{document}: {}", reply.text);
    }
}
