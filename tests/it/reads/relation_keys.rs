//! Conditions on the keys of relations to one row, over the three kinds of views.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, agreed_data, ids, three_views};

/// The same types over views of one kind.
macro_rules! orders {
    ($kind:ident, $product:literal, $line:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $product, sql_source = $product)]
            pub(super) struct Product {
                pub(super) id: Uuid,
                pub(super) code: Option<String>,
                pub(super) hidden: bool,
            }

            #[svc_type(name = "Part")]
            pub(super) struct Part {
                pub(super) name: String,
                #[relation]
                pub(super) product: Option<One<Product>>,
            }

            #[svc_type(name = $line, sql_source = $line)]
            pub(super) struct Line {
                pub(super) id: i32,
                #[relation]
                pub(super) product: Option<One<Product>>,
                #[relation(from = "named", to = "code")]
                pub(super) other_product: Option<One<Product>>,
                pub(super) part: Option<Part>,
            }

            #[svc::query]
            pub(super) async fn answer() -> Vec<Line>;
            #[svc::query]
            pub(super) async fn chosen(
                ctx: &Context<'_>,
                product: Option<Uuid>,
            ) -> Result<Vec<i32>> {
                let rows = ctx
                    .db()
                    .find::<Line>()
                    .filter(col("product").eq(product))
                    .order_by(asc("product"))
                    .await?;
                Ok(rows.into_iter().map(|row| row.id).collect())
            }

            pub(super) fn options(is_governed: bool) -> AppOptions {
                let options = AppOptions::new()
                    .auto_camel_case(true)
                    .queries(queries![answer, chosen]);
                let visible =
                    |_: &Context<'_>| Ok(RowDecision::allow_where(col("hidden").eq(false)));
                if is_governed {
                    options.row_policy::<Product>(visible)
                } else {
                    options
                }
            }
        }
    };
}

orders!(columns, "c_product", "c_line");
orders!(data, "d_product", "d_line");
orders!(table, "tv_product", "tv_line");

/// Lines 1 and 2 lead to products, of which the second is hidden, 3 to one that is gone, and 4 to
/// none.
fn sql() -> String {
    let tables = "
        CREATE TABLE tb_product (id uuid PRIMARY KEY, code text, hidden bool NOT NULL);
        CREATE TABLE tb_line (id int PRIMARY KEY, product_id uuid, named text, part jsonb);
        INSERT INTO tb_product SELECT uuid(n), 'code ' || n, n = 2 FROM generate_series(1, 2) n;
        INSERT INTO tb_line SELECT n, uuid(n), 'code ' || n, jsonb_build_object('name', 'part ' || n, 'product_id', uuid(n))
          FROM generate_series(1, 3) n;
        INSERT INTO tb_line VALUES (4);";
    let uuid = "CREATE FUNCTION uuid(n int) RETURNS uuid LANGUAGE sql IMMUTABLE AS
        $$ SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid $$;";
    let views = [("product", "id"), ("line", "id, product_id")];
    format!(
        "{uuid} {tables} {}",
        views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
    )
}

const KINDS: [&str; 3] = ["columns", "data", "table"];

async fn app(database: &TestDatabase, kind: &str, is_governed: bool) -> App {
    let options = match kind {
        "columns" => columns::options(is_governed),
        "data" => data::options(is_governed),
        _ => table::options(is_governed),
    };
    App::serve(options.database_url(database.url())).await
}

fn id(n: i32) -> String {
    format!("\"00000000-0000-0000-0000-00000000000{n}\"")
}

/// Conditions, the lines that match without a policy, and those that match where a policy keeps
/// product 2 back.
fn conditions() -> Vec<(String, Vec<i64>, Vec<i64>)> {
    let (one, two, three) = (id(1), id(2), id(3));
    vec![
        (format!("productId: {{eq: {one}}}"), vec![1], vec![1]),
        (format!("productId: {{eq: {two}}}"), vec![2], vec![]),
        // The key is a value of the row itself, so that it does not matter whether it leads
        // anywhere.
        (format!("productId: {{eq: {three}}}"), vec![3], vec![]),
        (format!("product: {{id: {{eq: {three}}}}}"), vec![], vec![]),
        (
            format!("productId: {{in: [{one}, {two}, {three}]}}"),
            vec![1, 2, 3],
            vec![1],
        ),
        ("productId: {in: []}".to_owned(), vec![], vec![]),
        (
            format!("productId: {{neq: {one}}}"),
            vec![2, 3, 4],
            vec![2, 3, 4],
        ),
        (
            format!("productId: {{neq: {two}}}"),
            vec![1, 3, 4],
            vec![1, 2, 3, 4],
        ),
        (
            format!("productId: {{nin: [{one}, {two}]}}"),
            vec![3, 4],
            vec![2, 3, 4],
        ),
        (
            "productId: {isnull: true}".to_owned(),
            vec![4],
            vec![2, 3, 4],
        ),
        (
            "productId: {isnull: false}".to_owned(),
            vec![1, 2, 3],
            vec![1],
        ),
        ("productId: {eq: null}".to_owned(), vec![4], vec![2, 3, 4]),
        (
            format!("NOT: {{productId: {{eq: {one}}}}}"),
            vec![2, 3, 4],
            vec![2, 3, 4],
        ),
        (
            format!("NOT: {{productId: {{in: [{two}]}}}}"),
            vec![1, 3, 4],
            vec![1, 2, 3, 4],
        ),
        (
            format!("OR: [{{productId: {{eq: {one}}}}}, {{id: {{eq: 4}}}}]"),
            vec![1, 4],
            vec![1, 4],
        ),
        // Keys of other names and types, and those of embedded objects.
        (
            "otherProductCode: {startswith: \"code\"}".to_owned(),
            vec![1, 2, 3],
            vec![1],
        ),
        (
            "otherProductCode: {eq: \"code 2\"}".to_owned(),
            vec![2],
            vec![],
        ),
        (
            format!("part: {{productId: {{in: [{two}, {one}]}}}}"),
            vec![1, 2],
            vec![1],
        ),
        (
            "part: {productId: {isnull: true}}".to_owned(),
            vec![4],
            vec![2, 3, 4],
        ),
    ]
}

#[tokio::test]
async fn rows_are_filtered_by_the_keys_of_their_relations() {
    let database = TestDatabase::copy_of("relation_keys", &sql()).await;
    for is_governed in [false, true] {
        let apps = [
            app(&database, "columns", is_governed).await,
            app(&database, "data", is_governed).await,
            app(&database, "table", is_governed).await,
        ];
        let app = |kind: &str| {
            &apps[KINDS
                .iter()
                .position(|known| *known == kind)
                .expect("a kind")]
        };
        for (condition, open, governed) in conditions() {
            let query =
                format!("{{ answer(where: {{{condition}}}, orderBy: [{{id: ASC}}]) {{ id }} }}");
            // The second time is by a kept statement.
            for _ in 0..2 {
                let found = agreed_data(&query, KINDS, async |kind| {
                    app(kind).query(&query).await.text
                })
                .await;
                assert_eq!(
                    ids(&found),
                    if is_governed { &governed } else { &open }.clone(),
                    "{is_governed} {condition}"
                );
            }
        }
        for (product, open, governed) in [
            (id(2), vec![2], vec![]),
            ("null".to_owned(), vec![4], vec![2, 3, 4]),
        ] {
            let query = format!("{{ chosen(product: {product}) }}");
            let found = agreed_data(&query, KINDS, async |kind| {
                app(kind).query(&query).await.text
            })
            .await;
            let mut found: Vec<i64> =
                serde_json::from_value(found["chosen"].clone()).expect("numbers");
            found.sort_unstable();
            assert_eq!(
                found,
                if is_governed { governed } else { open },
                "{is_governed} {product}"
            );
        }
    }
}

#[tokio::test]
async fn a_condition_on_a_key_reads_one_view_in_one_statement() {
    let database = TestDatabase::copy_of("relation_keys", &sql()).await;
    let app = app(&database, "columns", false).await;
    let before = database.statements("\"c_line\"").await;
    app.query(&format!(
        "{{ answer(where: {{productId: {{in: [{}]}}}}) {{ id }} }}",
        id(1)
    ))
    .await
    .data();
    assert_eq!(database.statements("\"c_line\"").await, before + 1);
    assert_eq!(database.texts("c_product").await, Vec::<String>::new());
    let texts = database.texts("c_line").await;
    assert!(
        texts
            .iter()
            .any(|text| text.contains("WHERE (((t.\"product_id\" = ANY($1::uuid[]))))")),
        "{texts:#?}"
    );
}

#[svc_type(sql_source = "c_product")]
struct Guarded {
    #[svc::requires_auth]
    id: Uuid,
    code: String,
}

#[svc_type(sql_source = "c_line")]
struct Told {
    id: i32,
    /// The program's own field comes first, whatever it is called.
    #[svc(name = "reference")]
    product_id: Option<Uuid>,
    #[relation]
    product: Option<One<columns::Product>>,
    /// The key there is gated.
    #[relation(from = "made_id")]
    made: Option<One<Guarded>>,
    #[relation(from = "named", to = "code")]
    same: Option<One<Guarded>>,
    same_code: i32,
    /// Whoever filters by the key learns what the relation tells.
    #[svc::requires_auth]
    #[relation(from = "named", to = "code")]
    guarded: Option<One<Guarded>>,
}

#[svc::query]
async fn told() -> Vec<Told>;

#[test]
fn gated_relation_keys_have_no_conditions() {
    let sdl = AppOptions::new()
        .queries(queries![told])
        .sdl()
        .expect("a schema");
    let start = sdl.find("input ToldWhere {").expect("conditions");
    let fields = &sdl[start..start + sdl[start..].find('}').expect("an end")];
    for (name, count) in [
        ("reference:", 1),
        ("product_id:", 0),
        ("made_id:", 0),
        ("same_code:", 1),
        ("guarded_code:", 1),
    ] {
        assert_eq!(fields.matches(name).count(), count, "{name} {fields}");
    }
    assert!(fields.contains("same_code: IntFilter"), "{fields}");
}

#[tokio::test]
async fn the_guard_of_a_relation_guards_its_key() {
    let database = TestDatabase::new(&sql()).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![told]),
    )
    .await;
    let reply = app
        .query("{ told(where: {guarded_code: {eq: \"code 1\"}}) { id } }")
        .await;
    assert_eq!(reply.code(), "UNAUTHENTICATED", "{}", reply.text);
    assert_eq!(reply.json()["data"], json!(null));
}
