//! Documents that are not GraphQL, do not fit the schema, or ask for much with few words.

use crate::{Hostile, document, post};

pub(crate) fn all() -> Vec<Hostile> {
    let short = SHORT
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let long = long()
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text));
    short
        .chain(long)
        .map(|(name, text)| post(format!("document: {name}"), document(&text)))
        .collect()
}

const SHORT: &[(&str, &str)] = &[
    ("a brace that stays open", "{ start { id }"),
    ("a brace too many", "{ start { id } } }"),
    ("no selection", "{ start }"),
    ("an empty selection", "{ start { } }"),
    ("a selection of a scalar", "{ length(text: \"\") { a } }"),
    ("a string that stays open", "{ length(text: \"a) }"),
    (
        "a block string that stays open",
        "{ length(text: \"\"\"a) }",
    ),
    (
        "a block string of quotation marks",
        "{ length(text: \"\"\"\\\"\"\"\"\"\") }",
    ),
    ("a bad escape", "{ length(text: \"\\q\") }"),
    ("a lone surrogate", "{ length(text: \"\\uD800\") }"),
    (
        "an escape beyond the last character",
        "{ length(text: \"\\u{110000}\") }",
    ),
    (
        "an endless escape",
        "{ length(text: \"\\u{000000000000000000041}\") }",
    ),
    ("a name with a character of Unicode", "{ stärt { id } }"),
    ("a name that looks like another", "{ stаrt { id } }"),
    ("a mark in the middle", "{ start\u{feff} { id } }"),
    ("a direction mark", "{ start \u{202e} { id } }"),
    ("a vertical tab", "{\u{b}start { id } }"),
    ("a question mark", "{ start ? { id } }"),
    ("four dots", "{ start { ....f } } fragment f on Node { id }"),
    ("a number with a letter", "{ length(text: 1a) }"),
    ("a number with a dot at its end", "{ length(text: 1.) }"),
    (
        "a variable in a constant",
        "query ($a: Int = $b, $b: Int) { start { id } }",
    ),
    (
        "a variable of an output type",
        "query ($a: Node) { start { id } }",
    ),
    (
        "a variable that is used nowhere",
        "query ($a: Int) { start { id } }",
    ),
    (
        "a variable that stands twice",
        "query ($a: String!, $a: Int) { length(text: $a) }",
    ),
    (
        "a required variable without a value",
        "query ($a: String!) { length(text: $a) }",
    ),
    (
        "a default of another type",
        "query ($a: String! = 7) { length(text: $a) }",
    ),
    (
        "a type within a list of many",
        "query ($a: [[[[[[[[[[[[[[[[String]]]]]]]]]]]]]]]]) { length(text: $a) }",
    ),
    ("an argument twice", "{ length(text: \"a\", text: \"b\") }"),
    (
        "an unknown argument",
        "{ length(text: \"a\", __proto__: 1) }",
    ),
    ("an unknown directive", "{ start @defer { id } }"),
    ("a directive without its argument", "{ start @skip { id } }"),
    (
        "a directive that stands thrice",
        "{ start @skip(if: false) @skip(if: false) @skip(if: true) { id } }",
    ),
    (
        "@include and @skip of everything",
        "{ start @skip(if: true) { id } length(text: \"a\") @include(if: false) }",
    ),
    (
        "a fragment on a scalar",
        "{ start { ...f } } fragment f on String { id }",
    ),
    (
        "a fragment on nothing",
        "{ start { ...f } } fragment f on Nothing { id }",
    ),
    ("a fragment that is not there", "{ start { ...f } }"),
    (
        "a fragment of itself",
        "{ start { ...f } } fragment f on Node { ...f }",
    ),
    (
        "two fragments of each other",
        "{ start { ...f } } fragment f on Node { ...g } fragment g on Node { ...f }",
    ),
    (
        "a fragment that is named on",
        "{ start { ...on } } fragment on on Node { id }",
    ),
    (
        "two answers under one name",
        "{ start { id id: __typename } }",
    ),
    (
        "two operations without names",
        "{ start { id } } { start { id } }",
    ),
    (
        "two operations of one name",
        "query A { start { id } } query A { start { id } }",
    ),
    (
        "a schema",
        "schema { query: Query } type Query { start: Int }",
    ),
    (
        "an extension of a type",
        "extend type Query { a: Int } { start { id } }",
    ),
    (
        "a subscription of two fields",
        "subscription { forever ticks(count: 1) }",
    ),
    (
        "a subscription of the schema",
        "subscription { __typename }",
    ),
    (
        "a mutation where there is none",
        "mutation { start { id } }",
    ),
    (
        "the resolver of another type",
        "{ __type(name: \"__Schema\") { fields { name type { ofType { ofType { name } } } } } }",
    ),
    (
        "SQL in a text",
        "{ length(text: \"'; DROP TABLE tb_user; --\") }",
    ),
    (
        "SQL in a filter",
        "{ users(where: { name: { eq: \"' OR 1=1 --\" } }) { id } }",
    ),
    (
        "an order by what is no column",
        "{ users(order_by: [{ \"1; SELECT\": ASC }]) { id } }",
    ),
    ("a limit below nothing", "{ users(limit: -1) { id } }"),
    (
        "a limit beyond all numbers",
        "{ users(limit: 99999999999999999999) { id } }",
    ),
    (
        "an offset at the end of numbers",
        "{ users(offset: 2147483647) { id } }",
    ),
    (
        "a pattern that goes back and forth",
        "{ users(where: { name: { like: \"%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b\" } }) { id } }",
    ),
];

fn long() -> Vec<(&'static str, String)> {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("{}{}", open.repeat(levels), close.repeat(levels))
    };
    let numbered =
        |count: usize, each: fn(usize) -> String| (0..count).map(each).collect::<String>();
    vec![
        ("100,000 names", "a ".repeat(100_000)),
        (
            "100,000 commas",
            format!("{{{} start {{ id }} }}", ",".repeat(100_000)),
        ),
        (
            "100,000 line ends",
            format!("{}{{ nothing }}", "\n".repeat(100_000)),
        ),
        (
            "100,000 carriage returns",
            format!("{}{{ nothing }}", "\r".repeat(100_000)),
        ),
        (
            "20,000 comments",
            format!("{}{{ start {{ id }} }}", "#\n".repeat(20_000)),
        ),
        (
            "20,000 ats",
            format!("{{ start {} {{ id }} }}", "@".repeat(20_000)),
        ),
        (
            "20,000 dollars",
            format!("query ({}) {{ start {{ id }} }}", "$".repeat(20_000)),
        ),
        (
            "20,000 quotation marks",
            format!("{{ length(text: {}) }}", "\"".repeat(20_000)),
        ),
        (
            "a name of 100,000 letters",
            format!("{{ {} }}", "a".repeat(100_000)),
        ),
        (
            "an alias of 100,000 letters",
            format!("{{ {}: start {{ id }} }}", "a".repeat(100_000)),
        ),
        (
            "a block string of 50,000 lines",
            format!("{{ length(text: \"\"\"{}\"\"\") }}", "  a\n".repeat(50_000)),
        ),
        (
            "a string of 20,000 escapes",
            format!("{{ length(text: \"{}\") }}", "\\u0041".repeat(20_000)),
        ),
        (
            "lists in lists in a constant",
            format!("{{ echo(json: {}) }}", nested("[", "]", 2_000)),
        ),
        (
            "objects in objects in a constant",
            format!("{{ echo(json: {}) }}", nested("{a:[", "]}", 1_000)),
        ),
        (
            "types in lists in lists",
            format!(
                "query ($a: {}) {{ start {{ id }} }}",
                nested("[", "]", 2_000)
            ),
        ),
        (
            "inline fragments in each other",
            format!("{{ {} }}", nested("...{", "}", 2_000)),
        ),
        (
            "500 directives on as many fields",
            format!("{{ start {{ {} }} }}", "id @skip(if: false) ".repeat(500)),
        ),
        ("2,000 variables with defaults", {
            format!(
                "query ({}) {{ start {{ id }} }}",
                numbered(2_000, |n| format!("$v{n}: [Int] = [1,2,3] "))
            )
        }),
        ("1,000 fragments that nobody spreads", {
            format!(
                "{{ start {{ id }} }}{}",
                numbered(1_000, |n| format!("fragment f{n} on Node{{...f{}}}", n + 1))
            )
        }),
        (
            "1,000 operations of one name",
            "query A{start{id}}".repeat(1_000),
        ),
        ("a hundred aliases of the schema", {
            format!(
                "{{{}}}",
                numbered(100, |n| format!("a{n}:__schema{{types{{name}}}}"))
            )
        }),
    ]
}
