//! Bodies that are not JSON, or not what a request has.

use crate::{Hostile, document, post};

const HELLO: &str = "{ start { id } }";

pub(crate) fn all() -> Vec<Hostile> {
    let named = |(name, body): &(&str, &[u8])| post(format!("body: {name}"), body);
    let mut all: Vec<_> = RAW.iter().map(named).collect();
    all.extend(
        TEXTS
            .iter()
            .map(|(name, body)| post(format!("body: {name}"), body)),
    );
    all.extend(
        large()
            .into_iter()
            .map(|(name, body)| post(format!("body: {name}"), body)),
    );
    all
}

/// Bytes of other encodings than UTF-8.
const RAW: &[(&str, &[u8])] = &[
    (
        "UTF-16 with a mark",
        b"\xff\xfe{\0\"\0q\0u\0e\0r\0y\0\"\0:\0\"\0{\0}\0\"\0}\0",
    ),
    (
        "UTF-16 without a mark",
        b"{\0\"\0q\0u\0e\0r\0y\0\"\0:\0\"\0{\0}\0\"\0}\0",
    ),
    ("UTF-32", b"\0\0\xfe\xff\0\0\0{\0\0\0}"),
    ("Latin-1", b"{\"query\":\"{ length(text: \\\"\xe9\\\") }\"}"),
    (
        "a mark of UTF-8",
        b"\xef\xbb\xbf{\"query\":\"{ start { id } }\"}",
    ),
    (
        "an overlong slash",
        b"{\"query\":\"{ length(text: \\\"\xc0\xaf\\\") }\"}",
    ),
    (
        "an encoded surrogate",
        b"{\"query\":\"{ length(text: \\\"\xed\xa0\x80\\\") }\"}",
    ),
    (
        "half a character at the end",
        b"{\"query\":\"{ start { id } }\"}\xe2\x82",
    ),
    (
        "beyond the last character",
        b"{\"query\":\"\xf4\x90\x80\x80\"}",
    ),
    ("zero bytes", b"\0\0\0\0\0\0\0\0"),
    (
        "a zero byte behind it",
        b"{\"query\":\"{ start { id } }\"}\0",
    ),
    (
        "gzip",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xabV*,M-\xaaT\xb2R\xaa\xaeU\xaa\x05\0",
    ),
    ("CBOR", b"\xa1equeryj{start{id}}"),
    (
        "random bytes",
        b"\x93\x17\xfb\x00\x81\xe6\x2a\xd8\xff\x01\x7f\x80\xc3",
    ),
];

const TEXTS: &[(&str, &str)] = &[
    ("nothing", ""),
    ("white space", " \t\r\n "),
    ("null", "null"),
    ("true", "true"),
    ("a number", "1e999"),
    ("a text", "\"{ start { id } }\""),
    ("a list in a list", "[[]]"),
    ("an empty batch", "[]"),
    ("a batch of null", "[null]"),
    ("a batch of eleven", "[{},{},{},{},{},{},{},{},{},{},{}]"),
    ("a batch in a batch", "[[{\"query\":\"{ start { id } }\"}]]"),
    ("an empty object", "{}"),
    ("half an object", "{\"query\":"),
    (
        "two objects",
        "{\"query\":\"{ start { id } }\"}{\"query\":\"{ start { id } }\"}",
    ),
    ("a comma too many", "{\"query\":\"{ start { id } }\",}"),
    ("comments", "{/* no */\"query\":\"{ start { id } }\"//\n}"),
    ("single quotation marks", "{'query':'{ start { id } }'}"),
    (
        "a key without quotation marks",
        "{query:\"{ start { id } }\"}",
    ),
    (
        "a control character",
        "{\"query\":\"{ start\u{1} { id } }\"}",
    ),
    (
        "a raw line end in a text",
        "{\"query\":\"{ start\n{ id } }\"}",
    ),
    ("an unknown escape", r#"{"query":"{ start { id } }\x"}"#),
    ("half an escape", r#"{"query":"\u00"}"#),
    (
        "a lone surrogate",
        r#"{"query":"{ length(text: \"\ud800\") }"}"#,
    ),
    (
        "surrogates the wrong way round",
        r#"{"query":"{ length(text: \"\udc00\ud800\") }"}"#,
    ),
    ("a zero character", r#"{"query":"{ start\u0000 { id } }"}"#),
    (
        "NaN",
        r#"{"query":"query ($j: JSON!) { echo(json: $j) }","variables":{"j":NaN}}"#,
    ),
    (
        "Infinity",
        r#"{"query":"query ($j: JSON!) { echo(json: $j) }","variables":{"j":-Infinity}}"#,
    ),
    (
        "a leading zero",
        r#"{"query":"query ($j: JSON!) { echo(json: $j) }","variables":{"j":007}}"#,
    ),
    (
        "a huge exponent",
        r#"{"query":"query ($j: JSON!) { echo(json: $j) }","variables":{"j":1e999999999}}"#,
    ),
    (
        "a tiny exponent",
        r#"{"query":"query ($j: JSON!) { echo(json: $j) }","variables":{"j":1e-999999999}}"#,
    ),
    ("the query is a number", r#"{"query":1}"#),
    ("the query is a list", r#"{"query":["{ start { id } }"]}"#),
    ("the query is null", r#"{"query":null}"#),
    ("the query is empty", r#"{"query":""}"#),
    ("the query is white space", r#"{"query":" \n\t"}"#),
    (
        "the query is a comment",
        "{\"query\":\"# { start { id } }\"}",
    ),
    (
        "the query stands twice",
        r#"{"query":"{ start { id } }","query":"{ nothing }"}"#,
    ),
    (
        "variables are a list",
        r#"{"query":"{ start { id } }","variables":[]}"#,
    ),
    (
        "variables are a text",
        r#"{"query":"{ start { id } }","variables":"{}"}"#,
    ),
    (
        "variables stand twice",
        r#"{"query":"{ start { id } }","variables":{},"variables":{"a":1}}"#,
    ),
    (
        "operationName is a number",
        r#"{"query":"{ start { id } }","operationName":1}"#,
    ),
    (
        "operationName is unknown",
        r#"{"query":"{ start { id } }","operationName":"__proto__"}"#,
    ),
    (
        "extensions are a text",
        r#"{"query":"{ start { id } }","extensions":"x"}"#,
    ),
    (
        "prototype keys",
        r#"{"query":"{ start { id } }","__proto__":{"a":1},"constructor":{"prototype":{}}}"#,
    ),
    (
        "a key with a zero character",
        r#"{"query":"{ start { id } }","\u0000":1}"#,
    ),
    (
        "XML",
        "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
    ),
    ("a form", "query=%7Bstart%7Bid%7D%7D"),
    ("YAML", "query: \"{ start { id } }\"\nvariables: &a [*a]"),
    (
        "a template",
        "{\"query\":\"{{7*7}}${7*7}<%= 7*7 %>#{7*7}\"}",
    ),
];

fn large() -> Vec<(&'static str, String)> {
    let query = document(HELLO);
    let open = &query[..query.len() - 1];
    let variable = |value: String| {
        format!(
            r#"{{"query":"query ($j: JSON!) {{ echo(json: $j) }}","variables":{{"j":{value}}}}}"#
        )
    };
    let numbered =
        |count: usize, each: fn(usize) -> String| (0..count).map(each).collect::<String>();
    vec![
        ("100,000 lists in lists", "[".repeat(100_000)),
        ("100,000 objects in objects", "{\"a\":".repeat(100_000)),
        (
            "50,000 keys",
            format!(
                "{open},{}\"z\":0}}",
                numbered(50_000, |n| format!("\"k{n}\":0,"))
            ),
        ),
        (
            "50,000 times the same key",
            format!("{open},{}\"z\":0}}", "\"k\":0,".repeat(50_000)),
        ),
        (
            "a key of 900,000 bytes",
            format!("{open},\"{}\":0}}", "k".repeat(900_000)),
        ),
        (
            "900,000 spaces behind it",
            format!("{query}{}", " ".repeat(900_000)),
        ),
        (
            "900,000 bytes of escapes",
            format!(
                "{{\"query\":\"{{ start {{ id }} }}{}\"}}",
                "\\u0020".repeat(150_000)
            ),
        ),
        (
            "900,000 bytes of backslashes",
            format!("{{\"query\":\"{}\"}}", "\\\\".repeat(450_000)),
        ),
        ("a number of 900,000 digits", variable("7".repeat(900_000))),
        (
            "a fraction of 900,000 digits",
            variable(format!("0.{}", "7".repeat(900_000))),
        ),
        (
            "a variable of 120,000 zeroes",
            variable(format!("[{}0]", "0,".repeat(120_000))),
        ),
        (
            "a variable of 50,000 empty objects",
            variable(format!("[{}0]", "{},".repeat(50_000))),
        ),
        (
            "a variable of 63 levels",
            variable(format!("{}{}", "[".repeat(63), "]".repeat(63))),
        ),
        (
            "a variable of 5,000 levels",
            variable(format!("{}{}", "[".repeat(5_000), "]".repeat(5_000))),
        ),
        ("20,000 variables that nobody declared", {
            let names = numbered(20_000, |n| format!("\"v{n}\":null,"));
            format!("{open},\"variables\":{{{names}\"z\":1}}}}")
        }),
        (
            "an operationName of 900,000 bytes",
            format!("{open},\"operationName\":\"{}\"}}", "a".repeat(900_000)),
        ),
        ("ten requests of 4,000 aliases", {
            let aliases = numbered(4_000, |n| format!("a{n}:id "));
            format!(
                "[{}]",
                vec![document(&format!("{{start{{{aliases}}}}}")); 10].join(",")
            )
        }),
        ("ten requests of 90,000 bytes", {
            format!(
                "[{}]",
                vec![document(&format!("#{}\n{HELLO}", "x".repeat(90_000))); 10].join(",")
            )
        }),
    ]
}
