//! Scalars that are stored as text have the operators of strings, over the three kinds of views.

use svc::async_graphql::Value;
use svc::prelude::*;
use svc::scalar::{Color, EmailAddress, Port, Slug, Url};
use svc_tests::{App, TestDatabase, agreed_data, ids, three_views};

/// A key of a ticket such as `ABC-12`.
struct TicketKey(String);

#[svc_scalar]
impl ScalarType for TicketKey {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) if text.contains('-') => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }
    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

macro_rules! page {
    ($kind:ident, $source:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $source, sql_source = $source)]
            pub(super) struct Page {
                id: i32,
                slug: Slug,
                contact: Option<EmailAddress>,
                link: Url,
                color: Color,
                ticket: TicketKey,
                port: Port,
                tags: Vec<Slug>,
            }

            #[svc::query]
            pub(super) async fn $kind() -> Vec<Page>;
        }
    };
}

page!(columns, "c_page");
page!(data, "d_page");
page!(table, "tv_page");

fn options() -> AppOptions {
    AppOptions::new().auto_camel_case(true).queries(queries![
        columns::columns,
        data::data,
        table::table
    ])
}

fn sql() -> String {
    let table = "
        CREATE TABLE tb_page (id int PRIMARY KEY, slug text, contact varchar, link text, color text, ticket text, port int,
                              tags text[]);
        INSERT INTO tb_page VALUES
          (1, 'hello-world', 'Ada@example.com', 'https://example.com/a_b', '#00aaff', 'ABC-1', 80, '{a-b}'),
          (2, 'hello', NULL, 'https://example.org/axb', '#000000', 'ABC-12', 443, '{}'),
          (3, 'world-2', 'bob@example.org', 'http://example.com/', '#ffffff', 'xyz-7', 8080, '{hello}');";
    format!("{table} {}", three_views("page", "id, slug, ticket"))
}

#[tokio::test]
async fn text_operators_apply_to_text_scalars() {
    let database = TestDatabase::new(&sql()).await;
    let app = App::serve(options().database_url(database.url())).await;
    for (condition, expected) in [
        // What is searched for need not be a value of the scalar.
        ("slug: {startswith: \"hello-\"}", vec![1]),
        ("slug: {startswith: \"hello\"}", vec![1, 2]),
        ("slug: {icontains: \"WORLD\"}", vec![1, 3]),
        ("slug: {endswith: \"-2\"}", vec![3]),
        ("slug: {like: \"%o-w%\"}", vec![1]),
        ("slug: {matches: \"^[a-z]+$\"}", vec![2]),
        ("slug: {eq: \"hello\"}", vec![2]),
        ("slug: {nin: [\"hello\"]}", vec![1, 3]),
        ("contact: {iendswith: \"@EXAMPLE.COM\"}", vec![1]),
        ("contact: {startswith: \"ada\"}", vec![]),
        ("contact: {istartswith: \"ada\"}", vec![1]),
        ("NOT: {contact: {contains: \"example.com\"}}", vec![2, 3]),
        // `_` means itself.
        ("link: {contains: \"/a_b\"}", vec![1]),
        (
            "link: {startswith: \"https:\", endswith: \"b\"}",
            vec![1, 2],
        ),
        ("color: {startswith: \"#00\"}", vec![1, 2]),
        ("ticket: {startswith: \"ABC\"}", vec![1, 2]),
        ("ticket: {ilike: \"XYZ-_\"}", vec![3]),
        ("port: {gte: 443, lt: 8080}", vec![2]),
        ("tags: {contains: [\"a-b\"]}", vec![1]),
    ] {
        let query = |root: &str| {
            format!("{{ answer: {root}(where: {{{condition}}}, orderBy: [{{id: ASC}}]) {{ id }} }}")
        };
        let ask = async |root: &str| app.query(&query(root)).await.text;
        let found = agreed_data(condition, ["columns", "data", "table"], ask).await;
        assert_eq!(ids(&found), expected, "{condition}");
    }
    for (condition, message) in [
        (
            format!("slug: {{icontains: \"{}\"}}", "x".repeat(1_001)),
            "at most 1000 bytes",
        ),
        ("slug: {matches: \"(\"}".to_owned(), "not valid"),
        (
            "slug: {eq: \"Not A Slug\"}".to_owned(),
            "joined by single hyphens",
        ),
    ] {
        let reply = app
            .query(&format!("{{ data(where: {{{condition}}}) {{ id }} }}"))
            .await;
        assert!(
            reply.message().contains(message),
            "{condition}: {}",
            reply.text
        );
    }
}

#[test]
fn the_schema_has_text_operators_for_text_scalars() {
    let sdl = options().sdl().expect("a schema");
    let filter = |name: &str| {
        let start = sdl
            .find(&format!("input {name} {{"))
            .unwrap_or_else(|| panic!("{name}"));
        sdl[start..start + sdl[start..].find('}').expect("an end")].to_owned()
    };
    for name in [
        "SlugFilter",
        "EmailAddressFilter",
        "URLFilter",
        "ColorFilter",
        "TicketKeyFilter",
    ] {
        let filter = filter(name);
        assert!(
            filter.contains("startswith: String") && filter.contains("imatches: String"),
            "{filter}"
        );
    }
    assert!(filter("SlugFilter").contains("eq: Slug"));
    let port = filter("PortFilter");
    assert!(
        port.contains("gte: Port") && !port.contains("startswith"),
        "{port}"
    );
    let without = options().regular_expressions(false).sdl();
    assert!(!without.expect("a schema").contains("imatches"));
}
