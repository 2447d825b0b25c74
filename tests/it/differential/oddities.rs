//! Documents at the edges of the language.

use serde_json::json;

use super::compare::Request;

/// What the kinds are called.
pub(super) const KINDS: [&str; 4] = ["oddity", "string", "number", "variable"];

/// All of them.
pub(super) fn requests() -> Vec<Request> {
    let mut requests: Vec<_> = DOCUMENTS.iter().map(|query| Request::new("oddity", *query)).collect();
    for value in STRINGS {
        requests.push(Request::new("string", format!("{{ echo(text: {value}) }}")));
    }
    for value in NUMBERS {
        for argument in ["int", "float", "id", "ints", "text"] {
            requests.push(Request::new("number", format!("{{ echo({argument}: {value}) }}")));
        }
    }
    requests.extend(variables());
    requests
}

/// String literals.
const STRINGS: [&str; 62] = [
    r#""""#,
    r#""a"#,
    r#"""""#,
    r#""\""#,
    r#""\\""#,
    r#""\/\b\f\n\r\t\"""#,
    r#""\a""#,
    r#""\x41""#,
    r#""\u0041""#,
    r#""\u004""#,
    r#""\u00zz""#,
    r#""\U0041""#,
    r#""\uD83D\uDE00""#,
    r#""\uD83D""#,
    r#""\uDE00""#,
    r#""\uDE00\uD83D""#,
    r#""\uD83D\u0041""#,
    r#""\uD83Dx""#,
    r#""\u{41}""#,
    r#""\u{1F600}""#,
    r#""\u{10FFFF}""#,
    r#""\u{110000}""#,
    r#""\u{D83D}""#,
    r#""\u{D83D}\u{DE00}""#,
    r#""\uD83D\u{DE00}""#,
    r#""\u{}""#,
    r#""\u{0}""#,
    r#""\u{00000041}""#,
    r#""\u{000000041}""#,
    r#""\u{000000000000000041}""#,
    r#""\u{41""#,
    r#""\u{ 41}""#,
    r#""\u{4g}""#,
    r#""\u0000""#,
    "\"\u{0}\"",
    "\"\u{1}\"",
    "\"\t\"",
    "\"\u{7f}\u{80}\u{2028}\u{FEFF}\u{FFFF}\"",
    "\"é🦀\"",
    "\"a\nb\"",
    "\"a\rb\"",
    "\"a\\\nb\"",
    "\"a # not a comment\"",
    "\"\"\"\"\"\"",
    "\"\"\"a\"\"\"",
    "\"\"\"a\"b\"\"c\"\"\"",
    "\"\"\"a\\\"\"\"b\"\"\"",
    "\"\"\"a\\\"\"\"\"\"\"",
    "\"\"\"a\\n\\u0041\\\"\"\"\"",
    "\"\"\"\n  a\n    b\n\n  c\n\"\"\"",
    "\"\"\"  a\n  b\n\tc\"\"\"",
    "\"\"\"\r\n  a\r  b\r\n\"\"\"",
    "\"\"\"\n\n\n\"\"\"",
    "\"\"\" \"\"\"",
    "\"\"\"a\n \n  \n\"\"\"",
    "\"\"\"\u{0}\"\"\"",
    "\"\"\"\u{1}\u{2028}é\"\"\"",
    "\"\"\"a",
    "\"\"\"a\"\"",
    "\"\"\"\"",
    "\"\"\"\n\u{A0}\u{A0}a\n\u{A0}b\"\"\"",
    "\"\"\"\n   a\n  \n b\n      \"\"\"",
];

/// Number literals, and what looks like one.
const NUMBERS: [&str; 45] = [
    "0", "-0", "00", "01", "-01", "-", "+1", "1.", ".5", "1.0", "-1.0", "0.0", "-0.0", "1e3", "1E3", "1e+3", "1e-3", "1.e3",
    "1e", "1e+", "1.5e", "1.0e10", "0e0", "0x10", "1a", "1_000", "1.2.3", "1.a", "1e1a", "1e1.5", "2147483647",
    "2147483648", "-2147483648", "-2147483649", "9007199254740993", "9223372036854775808", "18446744073709551616", "1e21",
    "1e308", "1e309", "-1e400", "1e-400", "0.1234567890123456789", "99999999999999999999999999", "123456789.125e-3",
];

/// Whole documents.
const DOCUMENTS: [&str; 118] = [
    "{ echoNested }",
    "{ echoNested(shape: null) }",
    "",
    " ",
    "# only a comment",
    ",,,",
    "\u{FEFF}",
    "\u{FEFF}{ __typename }",
    "\u{FEFF}\u{FEFF}{ __typename }",
    "{ \u{FEFF} __typename }",
    "{ __typename\u{FEFF} }",
    "{ __type\u{FEFF}name }",
    "{}",
    "{ }",
    "query",
    "query {}",
    "query Q",
    "query Q {}",
    "query Q() { __typename }",
    "query () { __typename }",
    "query Q { __typename",
    "{ __typename }}",
    "{ __typename } }",
    "{{ __typename }}",
    "{ users { } }",
    "{ users {} }",
    "{ users() { id } }",
    "{ echo() }",
    "{ ... {} }",
    "{ ... on Query {} }",
    "{ ... { __typename } }",
    "{ ...on Query { __typename } }",
    "{ ...onQuery }",
    "{ ... on }",
    "{ ...on { id } }",
    "fragment on on Query { __typename } { ...on }",
    "fragment on on Query { __typename } query { ... on }",
    "fragment on on on { id } { __typename }",
    "fragment true on Query { __typename } { ...true }",
    "fragment query on Query { __typename } query query { ...query }",
    "query on { __typename }",
    "query query { __typename }",
    "query fragment { on: __typename true: __typename null: __typename }",
    "fragment F($a: Int) on Query { __typename } { ...F }",
    "fragment F on Query { __typename }",
    "fragment F { __typename } { ...F }",
    "fragment F on Query @skip(if: true) { __typename } { ...F }",
    "{ __typename } { __typename }",
    "{ __typename } query Q { __typename }",
    "query Q { __typename } query Q { __typename }",
    "query Q { __typename } mutation Q { fail }",
    "subscription { users { id } }",
    "subscription S { __typename }",
    "type X { a: Int } { __typename }",
    "type X { a: Int }",
    "extend type Query { a: Int } { __typename }",
    "\"description\" { __typename }",
    "\"description\" query Q { __typename }",
    "\"\"\"description\"\"\" query Q { __typename }",
    "\"description\" fragment F on Query { __typename } { ...F }",
    "query (\"description\" $a: Int) { echo(int: $a) }",
    "{ a: __typename }",
    "{ a : __typename }",
    "{ a:b:__typename }",
    "{ a,:,__typename }",
    "{ a,: __typename }",
    "{,,__typename,,}",
    "{ ...,on Query { __typename } }",
    "{ ..., on Query { __typename } }",
    "{ ...,F } fragment,F,on,Query{__typename}",
    "query,Q,($a,:,Int,=,1,),{ echo(int,:,$a,) }",
    "query ($a: Int = 1,,, $b: Int) { echo(int: $a) a: echo(int: $b) }",
    "query ($,a: Int) { echo(int: $,a) }",
    "{ __typename @,skip(if: true) }",
    "{ echo(ints: [,1,,2,]) }",
    "{ echo(shape: {,name,:,\"a\",,}) }",
    "query ($a: [,Int,!,]) { echo(ints: $a) }",
    "{ . . . on Query { __typename } }",
    "{ .. on Query { __typename } }",
    "{ .... on Query { __typename } }",
    "{ ..F } fragment F on Query { __typename }",
    "{ __typename # comment\n }",
    "{ # } comment \r __typename }",
    "{ # } comment \r\n __typename }",
    "{ # comment without an end }",
    "{ # \u{0} \u{1} é🦀\n __typename }",
    "{ __typename \u{0} }",
    "{ __typename \u{7} }",
    "{ __typename \u{A0} }",
    "{ __typename \u{2028} }",
    "{ __typename \u{B} }",
    "{ é }",
    "{ é: __typename }",
    "{ a-b: __typename }",
    "{ 1a: __typename }",
    "{ a?: __typename }",
    "{ users(limit:1offset:1) { id } }",
    "{ echo(int:1a:2) }",
    "{ echo(int:1text:\"a\") }",
    "{ echo(text:\"a\"int:1) }",
    "{ echo(text:\"a\"\"b\") }",
    "{ echo(int: $) }",
    "query ($: Int) { __typename }",
    "query ($a Int) { __typename }",
    "query ($a: Int = $b $b: Int) { echo(int: $a) x: echo(int: $b) }",
    "query ($a: Int! = null) { echo(int: $a) }",
    "query ($a: [Int) { echo(ints: $a) }",
    "query ($a: Int!!) { echo(int: $a) }",
    "query ($a: Int @skip(if: true)) { echo(int: $a) }",
    "query ($a: Int @nope) { echo(int: $a) }",
    "query ($true: Int) { echo(int: $true) }",
    "{ echo(role: true) }",
    "{ echo(role: null) }",
    "{ echo(shape: {name: \"\" inner: null tags: [] size: null}) }",
    "{ __typename @skip(if: true) @include(if: true) }",
    "{ __typename @skip @include }",
    "{ users { __schema { queryType { name } } } }",
    "query Q @skip(if: true) { __typename }",
];

/// Variables at the edges of their types.
fn variables() -> Vec<Request> {
    let values = [
        json!(null), json!(0), json!(-0.0), json!(1.0), json!(1.5), json!(2_147_483_647), json!(2_147_483_648_i64),
        json!(9_007_199_254_740_993_i64), json!(1e21), json!(1e300), json!("1"), json!(""), json!("READER"), json!("\u{0}é🦀"),
        json!(true), json!([]), json!([1]), json!([1, null]), json!([[1], null, 2]), json!({}), json!({"name": "n"}),
        json!({"name": "n", "nope": 1}), json!({"name": null}), json!({"id": 1}), json!({"id": 1, "name": "n"}),
        json!({"name": "n", "size": "1"}), json!({"name": "n", "inner": {"name": "m", "ids": [1, [2, "x"], null]}}),
        json!({"name": "n", "role": "NOBODY"}), json!({"shape": {"name": "n"}}), json!({"ids": 3}), json!([{"name": "n"}]),
        json!(["READER", null, "EDITOR"]),
    ];
    let places = [
        ("Int", "int"), ("[Int!]", "ints"), ("Float", "float"), ("String", "text"), ("Boolean", "flag"), ("ID", "id"),
        ("Role", "role"), ("[Role]", "roles"), ("Shape", "shape"), ("[Shape!]", "shapes"), ("By", "by"), ("[[Int]]", "matrix"),
    ];
    let mut requests = Vec::new();
    for (ty, name) in places {
        for suffix in ["", "!"] {
            let query = format!("query ($v: {ty}{suffix}) {{ echo({name}: $v) }}");
            requests.push(Request::new("variable", &query));
            for value in &values {
                requests.push(Request::new("variable", &query).with(&json!({ "v": value })));
            }
        }
    }
    requests
}
