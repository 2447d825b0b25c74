//! The documents that are sent.

use std::fmt::Write as _;

use hostile_requests::End;

use crate::repeated;

/// A request that could hold the server.
pub(crate) struct Attack {
    pub(crate) name: String,
    /// All that is sent; something else for each number, where a cache could answer it.
    pub(crate) bytes: Box<dyn Fn(usize) -> Vec<u8>>,
    pub(crate) end: End,
}

/// All of them.
pub(crate) fn all() -> Vec<Attack> {
    let mut all: Vec<Attack> = documents()
        .into_iter()
        .map(|(name, text)| document(name, text))
        .collect();
    all.extend(
        repeated::documents()
            .into_iter()
            .map(|(name, text)| document(name, text)),
    );
    all.push(repeated::combined());
    all.extend(bodies());
    all.extend(hostile_requests::all().into_iter().map(|hostile| Attack {
        name: hostile.name,
        bytes: Box::new(move |_| hostile.bytes.clone()),
        end: hostile.end,
    }));
    all
}

const HEAD: &str = "POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n";

/// A request with a body.
pub(crate) fn post(body: &str) -> Vec<u8> {
    format!("{HEAD}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn chunked(body: &str) -> Vec<u8> {
    format!(
        "{HEAD}transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    )
    .into_bytes()
}

fn document(name: &'static str, text: String) -> Attack {
    let text = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    // The comment makes the document new to the cache of prepared documents.
    raw(name, move |number| {
        format!(r##"{{"query":"{text} #{number}"}}"##)
    })
}

pub(crate) fn raw(name: &str, body: impl Fn(usize) -> String + 'static) -> Attack {
    Attack {
        name: name.to_owned(),
        bytes: Box::new(move |number| post(&body(number))),
        end: End::Waits,
    }
}

fn documents() -> Vec<(&'static str, String)> {
    vec![
        (
            "30 fragments, each spreads the next twice",
            fragment_bomb(false),
        ),
        (
            "30 fragments, each nests the next twice",
            fragment_bomb(true),
        ),
        ("300 fragments in a ring", ring(300)),
        (
            "10,000 aliases",
            format!(
                "{{ start {{ {} }} }}",
                numbered(10_000, |n| format!("a{n}: id "))
            ),
        ),
        (
            "4,000 aliases",
            format!(
                "{{ start {{ {} }} }}",
                numbered(4_000, |n| format!("a{n}: id "))
            ),
        ),
        (
            "100 aliases of the root field",
            format!(
                "{{ {} }}",
                numbered(100, |n| format!("a{n}: start {{ id }} "))
            ),
        ),
        ("depth 10,000", deep(10_000)),
        ("depth 100", deep(100)),
        ("10,000 braces", "{".repeat(10_000)),
        (
            "4,000 directives",
            format!("{{ start {{ id {} }} }}", "@x ".repeat(4_000)),
        ),
        (
            "5,000 repeated fields",
            format!("{{ start {{ {} }} }}", "id ".repeat(5_000)),
        ),
        (
            "1,800 repeated objects",
            format!("{{ start {{ {} }} }}", "next { id } ".repeat(1_800)),
        ),
        ("repeated objects in three levels", repeated(3, 11)),
        (
            "600 inline fragments in repeated objects",
            nested_inline(600),
        ),
        ("a list in lists, 8 levels", nested("many", 8)),
        (
            "5,000 unknown fields",
            format!("{{ {} }}", numbered(5_000, |n| format!("nope{n} "))),
        ),
        (
            "1,500 operations",
            numbered(1_500, |n| format!("query q{n}{{start{{id}}}}")),
        ),
        (
            "2,000 unused variables",
            format!(
                "query ({}) {{ start {{ id }} }}",
                numbered(2_000, |n| format!("$v{n}: Int "))
            ),
        ),
        (
            "1,300 unused fragments",
            format!(
                "{{ start {{ id }} }} {}",
                numbered(1_300, |n| format!("fragment g{n} on Node{{id}}"))
            ),
        ),
        (
            "900,000 bytes of comment",
            format!("#{}\n{{ start {{ id }} }}", "x".repeat(900_000)),
        ),
        (
            "a string of 900,000 bytes",
            format!("{{ length(text: \"{}\") }}", "x".repeat(900_000)),
        ),
        (
            "a number of 100,000 digits",
            format!("{{ length(text: {}) }}", "9".repeat(100_000)),
        ),
        (
            "a list of 10,000 levels",
            format!(
                "{{ leaves(tree: {}1{}) }}",
                "[".repeat(10_000),
                "]".repeat(10_000)
            ),
        ),
        (
            "an input object of 1,000 levels",
            format!("{{ leaves(tree: {}) }}", tree(1_000)),
        ),
        (
            "introspection, 40 levels",
            format!(
                "{{ __schema {{ types {{ {} name {} }} }} }}",
                "fields { type { ".repeat(40),
                "} }".repeat(40)
            ),
        ),
        (
            "1,400 conditions on a view",
            format!(
                "{{ users(where: {{ OR: [{}] }}) {{ id }} }}",
                "{name:{eq:\"x\"}}".repeat(1_400)
            ),
        ),
        ("190 texts looked for in any case", searches(190)),
        (
            "50 texts looked for in `data` that a view computes",
            searches(50),
        ),
        ("50 keys of an order in such `data`", {
            let keys = "{name:ASC},{city:ASC},".repeat(25);
            format!("{{ drafts(order_by: [{keys}]) {{ id }} }}")
        }),
        ("a path that doubles 150 times", {
            let path = format!("${} ? (@ == 2)", "[0,0]".repeat(150));
            format!("{{ drafts(where: {{ meta: {{ path_exists: \"{path}\" }} }}) {{ id }} }}")
        }),
    ]
}

fn searches(count: usize) -> String {
    let conditions = numbered(count, |n| format!("{{name:{{icontains:\"x{n}\"}}}}"));
    format!("{{ drafts(where: {{ OR: [{conditions}] }}) {{ id }} }}")
}

fn bodies() -> Vec<Attack> {
    let variable = |name, value: String| {
        raw(name, move |number| {
            format!(
                r##"{{"query":"query ($t: Tree!) {{ leaves(tree: $t) }} #{number}","variables":{{"t":{value}}}}}"##
            )
        })
    };
    let mut in_chunks = raw("a body of 10,000,000 bytes, chunked", |_| {
        " ".repeat(10_000_000)
    });
    in_chunks.bytes = Box::new(|_| chunked(&" ".repeat(10_000_000)));
    vec![
        raw("a body of 1,000,001 bytes", |_| " ".repeat(1_000_001)),
        raw("a body of 10,000,000 bytes", |_| " ".repeat(10_000_000)),
        in_chunks,
        raw("a body of 999,999 brackets", |_| "[".repeat(999_999)),
        raw("a batch of 20,000", |_| {
            format!(
                "[{}{{}}]",
                r#"{"query":"{ start { id } }"},"#.repeat(20_000)
            )
        }),
        variable(
            "a variable of 100 levels",
            tree(100).replace("branches", "\"branches\""),
        ),
        variable(
            "a variable of 10,000 levels",
            tree(10_000).replace("branches", "\"branches\""),
        ),
        variable(
            "a variable of 70,000 items",
            format!(
                r#"{{"branches":[{}{{}}]}}"#,
                r#"{"leaf":1},"#.repeat(70_000)
            ),
        ),
        variable(
            "a variable of 40,000 keys",
            format!(
                "{{{}}}",
                numbered(40_000, |n| format!(r#""k{n}":1,"#)) + r#""leaf":1"#
            ),
        ),
    ]
}

pub(crate) fn numbered(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

fn fragment_bomb(nested: bool) -> String {
    let mut text = "{ start { ...f0 } }".to_owned();
    for n in 0..30 {
        let next = n + 1;
        let _ = if nested {
            write!(
                text,
                " fragment f{n} on Node {{ a: next {{ ...f{next} }} b: next {{ ...f{next} }} }}"
            )
        } else {
            write!(text, " fragment f{n} on Node {{ ...f{next} ...f{next} }}")
        };
    }
    text + " fragment f30 on Node { id }"
}

fn ring(count: usize) -> String {
    let fragment = |n| {
        format!(
            " fragment f{n} on Node {{ next {{ ...f{} }} }}",
            (n + 1) % count
        )
    };
    "{ start { ...f0 } }".to_owned() + &numbered(count, fragment)
}

fn deep(levels: usize) -> String {
    nested("next", levels)
}

fn nested(field: &str, levels: usize) -> String {
    format!(
        "{{ start {}{{ id }}{} }}",
        format!("{{ {field} ").repeat(levels),
        " }".repeat(levels)
    )
}

fn repeated(levels: usize, times: usize) -> String {
    let inner = (0..levels).fold("id".to_owned(), |inner, _| {
        format!("next {{ {inner} }} ").repeat(times)
    });
    format!("{{ start {{ {inner} }} }}")
}

fn nested_inline(times: usize) -> String {
    format!(
        "{{ start {{ {} }} }}",
        "...on Node{next{...on Node{id}}}".repeat(times)
    )
}

fn tree(levels: usize) -> String {
    "{branches:[".repeat(levels) + "{}" + &"]}".repeat(levels)
}
