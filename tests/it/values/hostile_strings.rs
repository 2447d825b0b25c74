//! Hostile strings in every place that takes one: right answers or clean errors, and never another
//! statement.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use svc::Limits;
use svc::prelude::*;
use svc::scalar::{LTree, SearchVector};
use svc_tests::{App, Reply, TestDatabase};

macro_rules! text {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            code: ID,
            title: String,
            tags: Vec<String>,
            meta: serde_json::Value,
            path: LTree,
            search: SearchVector,
            lines: Vec<Line>,
        }
    };
}

#[svc_type]
struct Line {
    text: String,
}

text!(ColumnText, "v_text_columns");
text!(DataText, "v_text_data");

#[svc::query]
async fn columns() -> Vec<ColumnText>;
#[svc::query]
async fn data() -> Vec<DataText>;
#[svc::query]
async fn by_title(title: String) -> Vec<ColumnText>;
#[svc::query]
async fn by_meta(meta: serde_json::Value) -> Vec<ColumnText>;
#[svc::query]
async fn found(ctx: &Context<'_>, title: String) -> Result<Find<DataText>> {
    Ok(ctx.db().find::<DataText>().filter(
        col("title")
            .eq(title.clone())
            .or(col("title").starts_with(title)),
    ))
}
#[svc::query]
async fn counted(ctx: &Context<'_>, title: String) -> Result<i64> {
    ctx.db()
        .find::<ColumnText>()
        .filter(col("title").eq(title))
        .count()
        .await
}

const SQL: &str = "
CREATE EXTENSION ltree;
CREATE TABLE tb_text (id int, title text);
CREATE VIEW v_text_columns AS
SELECT id, id AS code, title, ARRAY[title] AS tags, jsonb_build_object('k', title, left(title, 100), 1) AS meta,
       'a.b'::ltree AS path, to_tsvector(left(title, 100)) AS search,
       jsonb_build_array(jsonb_build_object('text', title)) AS lines
FROM tb_text;
CREATE VIEW v_text_data AS SELECT to_jsonb(t) AS data FROM v_text_columns AS t;";

const SHORT: &[&str] = &[
    "'",
    "''",
    "\"",
    "\\",
    "\\'",
    "\\\\",
    "`",
    "$1",
    "$$",
    "${x}",
    "%",
    "%s",
    "%%",
    "_",
    "{0}",
    "{}",
    "?",
    "?|",
    "@>",
    ":x",
    "::int",
    ";",
    "--",
    "/* */",
    "' OR 1=1 --",
    "'); DROP TABLE tb_text; --",
    "\" OR \"\" = \"",
    "\\u0000",
    "\\x00",
    "\u{1}",
    "\n\r\t",
    "null",
    "NULL",
    "true",
    "[]",
    "{\"a\": 1}",
    "a.b",
    "*",
    "*.*{,}",
    "(",
    ")",
    "[",
    "a|b",
    "!",
    "&",
    "<->",
    "a & ",
    "$",
    "$.k",
    "$[*]",
    "@",
    "🦀",
    "👨‍👩‍👧",
    "é\u{301}",
    "\u{202e}abc",
    "\u{200f}שלום",
    "\u{feff}",
    "\u{fffd}",
    "\u{10ffff}",
    "İı",
    "ß",
    "7",
    "007",
    "-1",
    "99999999999999999999",
    "1e400",
    " ",
    "",
];

/// Texts that the database can store.
fn hostile() -> Vec<String> {
    SHORT
        .iter()
        .map(|text| (*text).to_owned())
        .chain(["'\\".repeat(1_000)])
        .collect()
}

/// Over the usual limit of a request, which these tests raise.
fn megabyte() -> String {
    "a".repeat(1_000_000)
}

/// Fields with a variable: the string `$s`, the same as `$i: ID!` and as `$j: JSON!`.
const PLACES: &[&str] = &[
    "{root}(where: {title: {eq: $s}})",
    "{root}(where: {title: {neq: $s}})",
    "{root}(where: {title: {in: [$s]}})",
    "{root}(where: {title: {nin: [$s]}})",
    "{root}(where: {title: {contains: $s}})",
    "{root}(where: {title: {startswith: $s}})",
    "{root}(where: {title: {endswith: $s}})",
    "{root}(where: {code: {eq: $i}})",
    "{root}(where: {code: {contains: $s}})",
    "{root}(where: {tags: {contains: [$s]}})",
    "{root}(where: {tags: {containedBy: [$s]}})",
    "{root}(where: {tags: {overlaps: [$s]}})",
    "{root}(where: {meta: {eq: $j}})",
    "{root}(where: {meta: {contains: {k: $j}}})",
    "{root}(where: {meta: {containedBy: $j}})",
    "{root}(where: {meta: {hasKey: $s}})",
    "{root}(where: {meta: {hasAnyKeys: [$s]}})",
    "{root}(where: {meta: {hasAllKeys: [$s]}})",
    "{root}(where: {lines: {some: {text: {eq: $s}}}})",
    "{root}(where: {NOT: {lines: {every: {text: {contains: $s}}}}})",
    "byTitle(title: $s)",
    "byMeta(meta: $j)",
    "found(title: $s)",
];

/// Places in which a text may have 1,000 bytes: where it is looked for in any case, or is a query
/// of words.
const BOUNDED: &[&str] = &[
    "{root}(where: {title: {icontains: $s}})",
    "{root}(where: {title: {istartswith: $s}})",
    "{root}(where: {title: {iendswith: $s}})",
    "{root}(where: {search: {plainQuery: $s}})",
    "{root}(where: {search: {phraseQuery: $s}})",
    "{root}(where: {search: {websearchQuery: $s}})",
    "{root}(orderBy: [{search: {websearchQuery: $s}}])",
];

/// Places in which a text is a pattern, and may not be one.
const PATTERNS: &[&str] = &[
    "{root}(where: {title: {like: $s}})",
    "{root}(where: {title: {ilike: $s}})",
    "{root}(where: {title: {matches: $s}})",
    "{root}(where: {title: {imatches: $s}})",
    "{root}(where: {meta: {pathExists: $s}})",
    "{root}(where: {path: {matchesLquery: $s}})",
    "{root}(where: {search: {matches: $s}})",
    "{root}(orderBy: [{search: {matches: $s}}])",
];

async fn app(stored: &[String]) -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    let pool = database.pool().await;
    let insert = "INSERT INTO tb_text SELECT n, title FROM unnest($1::text[]) WITH ORDINALITY AS text (title, n)";
    svc::sqlx::query(insert)
        .bind(stored)
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    let limits = Limits {
        body: 10_000_000,
        complexity: 10_000,
        ..Limits::default()
    };
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .limits(limits);
    (
        App::serve(options.queries(queries![columns, data, by_title, by_meta, found, counted]))
            .await,
        database,
    )
}

/// Asks some places at once; the alias of each is `p` and its number.
async fn ask(app: &App, root: &str, places: &[&str], text: &str) -> Reply {
    let fields = places
        .iter()
        .enumerate()
        .map(|(n, place)| format!("p{n}: {} {{ id }}", place.replace("{root}", root)));
    let fields = fields.collect::<Vec<_>>().join(" ");
    let mut declared = String::new();
    let mut variables = Map::new();
    for (name, ty) in [("s", "String!"), ("i", "ID!"), ("j", "JSON!")] {
        // A megabyte that no place takes would be read all the same.
        if fields.contains(&format!("${name}")) {
            declared.push_str(&format!("${name}: {ty} "));
            variables.insert(name.to_owned(), text.into());
        }
    }
    let document = format!("query ({declared}) {{ {fields} }}");
    app.query_with(&document, variables.into()).await
}

/// A path may be refused as a variable, which fails the whole request.
async fn ask_path(app: &App, root: &str, text: &str) -> Reply {
    let query = format!("query ($s: LTree!) {{ {root}(where: {{path: {{eq: $s}}}}) {{ id }} }}");
    app.query_with(&query, json!({ "s": text })).await
}

async fn texts(database: &TestDatabase) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for source in ["v_text_columns", "v_text_data"] {
        texts.extend(database.texts(source).await);
    }
    texts
}

/// Whether each place answers or is refused, and nothing else.
fn assert_clean(reply: &Reply, places: &[&str], may_fail: bool, text: &str) {
    let text: String = text.chars().take(40).collect();
    for error in reply.json()["errors"].as_array().into_iter().flatten() {
        let alias = error["path"][0]
            .as_str()
            .and_then(|alias| alias.strip_prefix('p')?.parse::<usize>().ok());
        let what = format!(
            "{:?} in {:?}: {error}",
            text,
            alias.map(|index| places[index])
        );
        assert!(may_fail, "{what}");
        assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{what}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.len() < 1_000 && !message.contains("SELECT"),
            "{what}"
        );
    }
}

/// Whether a text is a value in each place of a root field.
async fn assert_handled(app: &App, root: &str, text: &str) {
    assert_clean(&ask(app, root, PLACES, text).await, PLACES, false, text);
    assert_clean(
        &ask(app, root, BOUNDED, text).await,
        BOUNDED,
        text.len() > 1_000,
        text,
    );
    // A list that fails takes the whole answer with it, so these are asked one by one.
    for place in PATTERNS {
        assert_clean(&ask(app, root, &[place], text).await, &[place], true, text);
    }
    assert_clean(&ask_path(app, root, text).await, &[], true, text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_strings_are_values_and_the_statements_stay_the_same() {
    let (app, database) = app(&hostile()).await;
    // Ids are compared as numbers or, where they are none, as texts.
    for text in ["x", "7"] {
        for root in ["columns", "data"] {
            ask(&app, root, PLACES, text).await.data();
            ask(&app, root, BOUNDED, text).await.data();
            for place in PATTERNS {
                ask(&app, root, &[place], text).await;
            }
            ask_path(&app, root, text).await.data();
        }
    }
    let before = texts(&database).await;
    assert!(before.len() > 60, "only {} statements", before.len());
    for text in hostile().into_iter().chain([megabyte()]) {
        tokio::join!(
            assert_handled(&app, "columns", &text),
            assert_handled(&app, "data", &text)
        );
    }
    let after = texts(&database).await;
    assert_eq!(
        after.difference(&before).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "new statements"
    );
}

#[tokio::test]
async fn hostile_strings_find_the_rows_that_hold_them() {
    for stored in [hostile(), vec![megabyte()]] {
        assert_found(&app(&stored).await.0, &stored).await;
    }
}

async fn assert_found(app: &App, stored: &[String]) {
    let ids = |holds: &dyn Fn(&str) -> bool| {
        let found = (1..)
            .zip(stored)
            .filter(|(_, other)| holds(other))
            .map(|(id, _)| json!({ "id": id }));
        Value::from(found.take(20).collect::<Vec<_>>())
    };
    for text in stored {
        let shown: String = text.chars().take(40).collect();
        for root in ["columns", "data"] {
            let operators = [
                ("eq", ids(&|other| other == text)),
                ("neq", ids(&|other| other != text)),
                ("contains", ids(&|other| other.contains(text.as_str()))),
                ("startswith", ids(&|other| other.starts_with(text.as_str()))),
                ("endswith", ids(&|other| other.ends_with(text.as_str()))),
            ];
            let places = operators.each_ref().map(|(operator, _)| {
                format!("{root}(where: {{title: {{{operator}: $s}}}}, orderBy: [{{id: ASC}}])")
            });
            let places = places.each_ref().map(String::as_str);
            let found = ask(app, root, &places, text).await.data();
            for (at, (operator, expected)) in operators.iter().enumerate() {
                assert_eq!(
                    found[format!("p{at}")],
                    *expected,
                    "{root}, {operator}: {shown:?}"
                );
            }
        }
        let literal = serde_json::to_string(text).unwrap();
        let reply = app
            .query(&format!(
                "{{ rows: byTitle(title: {literal}) {{ id }} counted(title: {literal}) }}"
            ))
            .await;
        assert_eq!(
            reply.data(),
            json!({ "rows": ids(&|other| other == text), "counted": 1 }),
            "{shown:?}"
        );
    }
}

#[tokio::test]
async fn nul_is_refused_in_every_place() {
    let (app, _) = app(&["x".to_owned()]).await;
    let text = "a\u{0}b";
    for root in ["columns", "data"] {
        for place in PLACES.iter().chain(PATTERNS) {
            let reply = ask(&app, root, &[place], text).await;
            assert_eq!(
                reply.json()["errors"][0]["extensions"]["code"],
                "BAD_USER_INPUT",
                "{place}: {}",
                reply.text
            );
        }
        assert_eq!(ask_path(&app, root, text).await.code(), "BAD_USER_INPUT");
    }
    let literal = r#"{ byTitle(title: "a\u0000b") { id } }"#;
    assert_eq!(app.query(literal).await.code(), "BAD_USER_INPUT");
}

#[tokio::test]
async fn a_megabyte_is_over_the_usual_limit() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![columns, data])).await;
    let reply = ask(&app, "columns", &PLACES[..1], &megabyte()).await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (413, "QUERY_TOO_LARGE")
    );
}
