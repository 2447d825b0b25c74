//! Fields without a body, over the three kinds of views: columns, `data` only, and a `tv_` table.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

/// The state of an article.
#[svc_enum]
#[derive(Debug, Clone, Copy)]
enum State {
    #[svc(stored = "draft")]
    Draft,
    #[svc(stored = "out")]
    Published,
}

#[svc_type]
struct Author {
    id: Uuid,
    name: String,
    nickname: Option<String>,
}

macro_rules! article {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: Uuid,
            title: String,
            subtitle: Option<String>,
            state: State,
            views: i32,
            total: i64,
            score: f64,
            price: Decimal,
            featured: bool,
            published_on: NaiveDate,
            published_at: NaiveTime,
            created_at: DateTime<Utc>,
            tags: Vec<String>,
            meta: serde_json::Value,
            author: Author,
            editors: Vec<Author>,
        }
    };
}

article!(ColumnArticle, "c_article");
article!(DataArticle, "d_article");
article!(TableArticle, "tv_article");

#[svc::query]
async fn columns() -> Vec<ColumnArticle>;
#[svc::query]
async fn data() -> Vec<DataArticle>;
#[svc::query]
async fn table() -> Vec<TableArticle>;
#[svc::query]
async fn column_one(id: Uuid) -> Option<ColumnArticle>;
#[svc::query]
async fn data_one(id: Uuid) -> Option<DataArticle>;
#[svc::query]
async fn table_one(id: Uuid) -> Option<TableArticle>;
#[svc::query]
async fn certain(id: Uuid) -> ColumnArticle;
#[svc::query]
async fn by_state(state: Option<State>) -> Vec<DataArticle>;
#[svc::query]
async fn stateless(#[svc(null = is_null)] state: Option<State>) -> Vec<DataArticle>;
#[svc::query]
async fn by_subtitle(subtitle: Option<String>) -> Vec<DataArticle>;
#[svc::query]
async fn subtitled(#[svc(null = all_rows)] subtitle: Option<String>) -> Vec<DataArticle>;

const SQL: &str = r#"
CREATE TABLE tb_article (
    id uuid PRIMARY KEY, title text NOT NULL, subtitle text, state text NOT NULL, views int NOT NULL, total bigint NOT NULL,
    score double precision NOT NULL, price numeric NOT NULL, featured boolean NOT NULL, published_on date NOT NULL,
    published_at time NOT NULL, created_at timestamptz NOT NULL, tags text[] NOT NULL, meta jsonb NOT NULL,
    author jsonb NOT NULL, editors jsonb NOT NULL
);
INSERT INTO tb_article VALUES
  ('00000000-0000-0000-0000-000000000001', 'One "quoted" \ back', NULL, 'draft', 1, 9007199254740993, 0.5, 12345678901234567890.1234567890, false,
   '1999-12-31', '23:59:59.5', '2024-02-29T12:00:00.123456+02:00', '{a,"b c"}', '{"k": [1, 2.50, null], "s": "ü"}',
   '{"id": "00000000-0000-0000-0000-0000000000aa", "name": "Ada", "nickname": null}', '[]'),
  ('00000000-0000-0000-0000-000000000002', E'Two\nlines\té', 'sub', 'out', -2, 42, 3, 1.10, true,
   '2024-01-01', '00:00:00', '2024-01-01T00:00:00Z', '{}', '"text"',
   '{"id": "00000000-0000-0000-0000-0000000000BB", "name": "Bo"}',
   '[{"id": "00000000-0000-0000-0000-0000000000aa", "name": "Ada", "nickname": "A"}, {"id": "00000000-0000-0000-0000-0000000000bb", "name": "Bo"}]'),
  ('00000000-0000-0000-0000-000000000003', '', '', 'out', 2147483647, 0, 1e21, 0, true,
   '0001-01-01', '12:30:00', '1970-01-01T00:00:00Z', '{x}', '[]',
   '{"id": "00000000-0000-0000-0000-0000000000aa", "name": "Ada"}', '[]');
"#;

async fn app() -> App {
    let url = TestDatabase::shared(
        "planned",
        &(SQL.to_owned() + &three_views("article", "id, title")),
    )
    .await;
    let queries = queries![
        columns,
        data,
        table,
        column_one,
        data_one,
        table_one,
        certain,
        by_state,
        stateless,
        by_subtitle,
        subtitled
    ];
    App::serve(
        AppOptions::new()
            .database_url(url)
            .auto_camel_case(true)
            .queries(queries),
    )
    .await
}

const ALL: &str =
    "{ id title subtitle state views total score price featured publishedOn publishedAt createdAt tags meta
    author { name id nickname __typename } editors { nickname name } }";

#[tokio::test]
async fn every_scalar_has_one_form_in_every_view() {
    let rows = app().await.same("", ALL).await;
    let expected = json!({
        "id": "00000000-0000-0000-0000-000000000001",
        "title": "One \"quoted\" \\ back",
        "subtitle": null,
        "state": "DRAFT",
        "views": 1,
        "total": "9007199254740993",
        "score": 0.5,
        "price": "12345678901234567890.1234567890",
        "featured": false,
        "publishedOn": "1999-12-31",
        "publishedAt": "23:59:59.500",
        "createdAt": "2024-02-29T10:00:00.123456Z",
        "tags": ["a", "b c"],
        "meta": {"k": [1, 2.5, null], "s": "ü"},
        "author": {"name": "Ada", "id": "00000000-0000-0000-0000-0000000000aa", "nickname": null, "__typename": "Author"},
        "editors": [],
    });
    assert_eq!(rows[0], expected);
    assert_eq!(
        rows[1]["author"]["id"],
        "00000000-0000-0000-0000-0000000000bb"
    );
    assert_eq!(
        rows[1]["editors"],
        json!([{"nickname": "A", "name": "Ada"}, {"nickname": null, "name": "Bo"}])
    );
    assert_eq!(rows[2]["publishedOn"], "0001-01-01");
}

/// A condition, and the last digits of the ids that it finds.
const CONDITIONS: &[(&str, &str)] = &[
    ("title: {eq: \"\"}", "3"),
    ("subtitle: {isnull: true}", "1"),
    ("subtitle: {eq: null}", "1"),
    ("subtitle: {neq: \"sub\"}", "13"),
    ("subtitle: {nin: [\"sub\"]}", "13"),
    ("subtitle: {nin: []}", "123"),
    ("subtitle: {in: []}", ""),
    ("state: {eq: PUBLISHED}", "23"),
    ("state: {in: [DRAFT]}", "1"),
    ("views: {gt: 0}", "13"),
    ("views: {lte: 1, gt: -3}", "12"),
    ("total: {eq: \"9007199254740993\"}", "1"),
    ("score: {gte: 3}", "23"),
    ("price: {in: [\"1.1\"]}", "2"),
    ("price: {eq: \"1.100\"}", "2"),
    ("featured: {eq: true}", "23"),
    ("publishedOn: {lt: \"2000-01-01\"}", "13"),
    ("publishedAt: {gt: \"12:30:00\"}", "1"),
    ("createdAt: {eq: \"2024-01-01T02:00:00+02:00\"}", "2"),
    ("id: {eq: \"00000000-0000-0000-0000-000000000002\"}", "2"),
    (
        "OR: [{views: {eq: 1}}, {views: {eq: -2}}], featured: {eq: true}",
        "2",
    ),
    ("NOT: {subtitle: {eq: \"sub\"}}", "13"),
    ("NOT: {OR: [{featured: {eq: true}}, {views: {eq: 7}}]}", "1"),
    (
        "AND: [{featured: {eq: true}}, {NOT: {title: {eq: \"\"}}}]",
        "2",
    ),
    ("title: {contains: \"\\\"quoted\"}", "1"),
    ("title: {contains: \"\\\\\"}", "1"),
    ("title: {contains: \"%\"}", ""),
    ("title: {contains: \"_\"}", ""),
    ("title: {icontains: \"QUOTED\"}", "1"),
    ("title: {startswith: \"One\"}", "1"),
    ("title: {istartswith: \"tW\"}", "2"),
    ("title: {endswith: \"back\"}", "1"),
    ("title: {iendswith: \"BACK\"}", "1"),
    ("title: {like: \"O%\"}", "1"),
    ("title: {ilike: \"o_e%\"}", "1"),
    ("title: {matches: \"^[OT]\"}", "12"),
    ("title: {imatches: \"^t\"}", "2"),
    ("tags: {contains: [\"a\"]}", "1"),
    ("tags: {containedBy: [\"a\", \"b c\"]}", "12"),
    ("tags: {overlaps: [\"x\", \"a\"]}", "13"),
    ("tags: {isEmpty: true}", "2"),
    ("tags: {isEmpty: false}", "13"),
    ("tags: {lenEq: 2}", "1"),
    ("tags: {lenGt: 0, lenLte: 1}", "3"),
    ("tags: {lenGte: 1}", "13"),
    ("tags: {lenLt: 2}", "23"),
    ("tags: {isnull: false}", "123"),
    ("meta: {hasKey: \"k\"}", "1"),
    ("meta: {hasAnyKeys: [\"x\", \"s\"]}", "1"),
    ("meta: {hasAllKeys: [\"k\", \"s\"]}", "1"),
    ("meta: {contains: {s: \"ü\"}}", "1"),
    ("meta: {containedBy: \"text\"}", "2"),
    ("meta: {eq: []}", "3"),
    ("meta: {pathExists: \"$.k[*] ? (@ > 2)\"}", "1"),
    ("author: {name: {eq: \"Ada\"}}", "13"),
    (
        "author: {id: {eq: \"00000000-0000-0000-0000-0000000000BB\"}}",
        "2",
    ),
    ("author: {nickname: {isnull: true}}", "123"),
    ("author: {name: {startswith: \"A\"}}, views: {gt: 1}", "3"),
    ("editors: {some: {name: {eq: \"Bo\"}}}", "2"),
    ("editors: {none: {name: {eq: \"Bo\"}}}", "13"),
    ("editors: {every: {name: {in: [\"Bo\", \"Ada\"]}}}", "123"),
    (
        "editors: {some: {nickname: {isnull: true}, name: {neq: \"Ada\"}}}",
        "2",
    ),
    ("NOT: {editors: {some: {name: {eq: \"Bo\"}}}}", "13"),
    ("OR: []", ""),
    ("AND: []", "123"),
];

#[tokio::test]
async fn filters_mean_the_same_in_columns_and_in_json() {
    let app = app().await;
    for (condition, ids) in CONDITIONS {
        let rows = app
            .same(&format!("(where: {{{condition}}})"), "{ id }")
            .await;
        let found: String = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().chars().last().unwrap())
            .collect();
        assert_eq!(found, *ids, "{condition}");
    }
}

#[tokio::test]
async fn lists_are_ordered_and_paged() {
    let app = app().await;
    for (arguments, ids) in [
        ("(orderBy: [{views: ASC}])", "213"),
        ("(orderBy: [{score: DESC}])", "321"),
        ("(orderBy: [{subtitle: ASC}])", "321"),
        ("(orderBy: [{subtitle: ASC_NULLS_FIRST}])", "132"),
        ("(orderBy: [{subtitle: DESC}])", "123"),
        ("(orderBy: [{subtitle: DESC_NULLS_LAST}])", "231"),
        ("(orderBy: [{featured: DESC}, {views: ASC}])", "231"),
        ("(orderBy: [{featured: DESC, views: ASC}])", "231"),
        ("(orderBy: [{author: {name: DESC}}, {views: DESC}])", "231"),
        ("(limit: 2)", "12"),
        ("(limit: 2, offset: 2)", "3"),
        ("(offset: 9)", ""),
        ("(limit: 0)", ""),
    ] {
        let rows = app.same(arguments, "{ id }").await;
        let found: String = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().chars().last().unwrap())
            .collect();
        assert_eq!(found, ids, "{arguments}");
    }
    for arguments in ["(limit: -1)", "(offset: -1)", "(limit: 1001)"] {
        assert_eq!(
            app.query(&format!("{{ columns{arguments} {{ id }} }}"))
                .await
                .code(),
            "BAD_USER_INPUT"
        );
    }
}

#[tokio::test]
async fn a_row_is_found_by_its_argument_or_is_null() {
    let app = app().await;
    for root in ["columnOne", "dataOne", "tableOne"] {
        let query = format!("query ($id: UUID!) {{ row: {root}(id: $id) {{ title views }} }}");
        let reply = app
            .query_with(
                &query,
                json!({ "id": "00000000-0000-0000-0000-000000000003" }),
            )
            .await;
        assert_eq!(
            reply.data(),
            json!({ "row": { "title": "", "views": 2147483647 } })
        );
        let reply = app
            .query_with(
                &query,
                json!({ "id": "00000000-0000-0000-0000-000000000009" }),
            )
            .await;
        assert_eq!(reply.data(), json!({ "row": null }));
    }
    let reply = app
        .query("{ certain(id: \"00000000-0000-0000-0000-000000000009\") { id } }")
        .await;
    assert_eq!(reply.json()["data"], Value::Null);
    assert_eq!(reply.code(), "NOT_FOUND");
}

#[tokio::test]
async fn an_absent_argument_does_not_filter_and_null_depends_on_the_field() {
    let app = app().await;
    let count = |reply: svc_tests::Reply| reply.data()["rows"].as_array().unwrap().len();
    assert_eq!(count(app.query("{ rows: byState { id } }").await), 3);
    assert_eq!(
        count(
            app.query("{ rows: byState(state: PUBLISHED) { id } }")
                .await
        ),
        2
    );
    // The field is never null, so that null asks for nothing.
    assert_eq!(
        count(app.query("{ rows: byState(state: null) { id } }").await),
        3
    );
    for (root, found) in [("bySubtitle", 1), ("subtitled", 3), ("stateless", 0)] {
        let argument = if root == "stateless" {
            "state"
        } else {
            "subtitle"
        };
        assert_eq!(
            count(
                app.query(&format!("{{ rows: {root}({argument}: null) {{ id }} }}"))
                    .await
            ),
            found,
            "{root}"
        );
        assert_eq!(
            count(app.query(&format!("{{ rows: {root} {{ id }} }}")).await),
            3,
            "{root}"
        );
        let kind = if root == "stateless" {
            "State"
        } else {
            "String"
        };
        let query =
            format!("query ($given: {kind}) {{ rows: {root}({argument}: $given) {{ id }} }}");
        assert_eq!(
            count(app.query_with(&query, json!({ "given": null })).await),
            found,
            "{root}"
        );
        assert_eq!(count(app.query_with(&query, json!({})).await), 3, "{root}");
    }
    let query = "query ($state: State) { rows: byState(state: $state) { id } }";
    assert_eq!(count(app.query_with(query, json!({})).await), 3);
    assert_eq!(
        count(app.query_with(query, json!({ "state": "DRAFT" })).await),
        1
    );
}

#[tokio::test]
async fn hostile_strings_stay_values() {
    let app = app().await;
    for text in [
        "'",
        "\\",
        "$1",
        "%",
        "\"; DROP TABLE tb_article; --",
        "{0}",
        "🦀",
        "\u{7f}",
    ] {
        for root in ["columns", "data", "table"] {
            let query =
                format!("query ($t: String!) {{ {root}(where: {{title: {{eq: $t}}}}) {{ id }} }}");
            assert_eq!(
                app.query_with(&query, json!({ "t": text })).await.data()[root],
                json!([]),
                "{text}"
            );
        }
    }
    let query = "query ($t: String!) { columns(where: {title: {eq: $t}}) { id } }";
    assert_eq!(
        app.query_with(query, json!({ "t": "a\u{0}b" }))
            .await
            .code(),
        "BAD_USER_INPUT"
    );
}

#[tokio::test]
async fn a_null_condition_is_refused_as_it_could_mean_two_things() {
    let app = app().await;
    for condition in [
        "title: null",
        "OR: null",
        "author: null",
        "editors: {some: null}",
    ] {
        assert_eq!(
            app.query(&format!("{{ columns(where: {{{condition}}}) {{ id }} }}"))
                .await
                .code(),
            "BAD_USER_INPUT",
            "{condition}"
        );
    }
    for condition in [
        "views: {gt: null}",
        "title: {contains: null}",
        "tags: {isEmpty: null}",
    ] {
        assert_eq!(
            app.same(&format!("(where: {{{condition}}})"), "{ id }")
                .await,
            json!([]),
            "{condition}"
        );
    }
    assert_eq!(
        app.same("(where: null)", "{ id }")
            .await
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test]
async fn values_out_of_the_range_of_a_type_are_client_errors() {
    let app = app().await;
    for condition in [
        "createdAt: {lt: \"-004714-01-01T00:00:00Z\"}",
        "publishedOn: {gt: \"+262143-01-01\"}",
        "publishedOn: {gt: \"-200000-01-01\"}",
    ] {
        let reply = app
            .query(&format!("{{ columns(where: {{{condition}}}) {{ id }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{condition}: {}",
            reply.text
        );
    }
    let urn = "(where: {id: {eq: \"urn:uuid:00000000-0000-0000-0000-000000000002\"}})";
    assert_eq!(app.same(urn, "{ views }").await, json!([{ "views": -2 }]));
    assert_eq!(
        app.query("{ columns(where: {title: {matches: \"(\"}}) { id } }")
            .await
            .code(),
        "BAD_USER_INPUT"
    );
}

#[tokio::test]
async fn unknown_names_in_a_filter_are_errors() {
    let app = app().await;
    for arguments in [
        "where: {nope: {eq: 1}}",
        "where: {title: {nope: \"x\"}}",
        "where: {views: {eq: \"x\"}}",
        "orderBy: [{nope: ASC}]",
        "orderBy: [{title: UP}]",
    ] {
        assert_eq!(
            app.query(&format!("{{ columns({arguments}) {{ id }} }}"))
                .await
                .code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{arguments}"
        );
    }
}
