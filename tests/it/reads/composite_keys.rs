//! Relations of several keys, over the three kinds of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Kinds, TestDatabase, three_views};

/// The same types over views of one kind.
macro_rules! shop {
    ($kind:ident, $product:literal, $line:literal, $tag:literal, $join:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $product, sql_source = $product)]
            pub(super) struct Product {
                pub(super) tenant_id: i32,
                pub(super) id: Uuid,
                pub(super) name: String,
                #[relation(from = ["tenant_id", "id"], to = ["tenant_id", "product_id"], order_by = "id")]
                pub(super) lines: Many<Line>,
                #[relation(
                                    from = ["tenant_id", "id"], through = $join, here = ["tenant_id", "product_id"],
                                    there = ["tenant_id", "tag_code"], to = ["tenant_id", "code"], order_by = "code"
                                )]
                pub(super) tags: Many<Tag>,
            }

            #[svc_type]
            impl Product {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(name = $tag, sql_source = $tag)]
            pub(super) struct Tag {
                pub(super) tenant_id: i32,
                pub(super) code: String,
            }

            #[svc_type(name = $line, sql_source = $line)]
            pub(super) struct Line {
                pub(super) id: i32,
                #[relation(from = ["tenant_id", "product_id"], to = ["tenant_id", "id"])]
                pub(super) product: Option<One<Product>>,
            }

            #[svc::query]
            pub(super) async fn products() -> Vec<Product>;
            #[svc::query]
            pub(super) async fn lines() -> Vec<Line>;
            /// Rows in hand.
            #[svc::query]
            pub(super) async fn held(ctx: &Context<'_>) -> Result<Vec<Line>> {
                ctx.db().find::<Line>().order_by(asc("id")).await
            }
            #[svc::query]
            pub(super) async fn held_products(ctx: &Context<'_>) -> Result<Vec<Product>> {
                ctx.db().find::<Product>().order_by(asc("name")).await
            }
            /// Values that the program makes.
            #[svc::query]
            pub(super) async fn made(tenant: Option<i32>) -> Vec<Line> {
                let id: Uuid = "00000000-0000-0000-0000-000000000001".parse().expect("a UUID");
                vec![Line { id: 9, product: Some(One::new((tenant, id))) }, Line { id: 10, product: None }]
            }
            #[svc::query]
            pub(super) async fn half() -> Vec<Line> {
                vec![Line { id: 9, product: Some(One::new(1)) }]
            }
            #[svc::query]
            pub(super) async fn named(ctx: &Context<'_>, name: String) -> Result<Find<Line>> {
                let find = ctx.db().find::<Line>().filter(col("product.name").eq(name));
                Ok(find.order_by(desc("product.name")).order_by(asc("id")))
            }
        }
    };
}

shop!(columns, "c_product", "c_line", "c_tag", "c_join");
shop!(data, "d_product", "d_line", "d_tag", "d_join");
shop!(table, "tv_product", "tv_line", "tv_tag", "tv_join");

/// Two tenants with a product of the same id each.
fn sql() -> String {
    let tables = "
        CREATE TABLE tb_product (tenant_id int, id uuid, name text NOT NULL, PRIMARY KEY (tenant_id, id));
        CREATE TABLE tb_line (id int PRIMARY KEY, tenant_id int, product_id uuid);
        CREATE TABLE tb_tag (tenant_id int, code text);
        CREATE TABLE tb_join (tenant_id int, product_id uuid, tag_code text);
        INSERT INTO tb_product SELECT tenant, ('00000000-0000-0000-0000-00000000000' || n)::uuid, name
          FROM (VALUES (1, 1, 'apple'), (1, 2, 'bread'), (2, 1, 'cup')) AS p (tenant, n, name);
        INSERT INTO tb_line SELECT id, tenant, ('00000000-0000-0000-0000-00000000000' || n)::uuid
          FROM (VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 2), (5, NULL, 1), (6, 1, NULL), (7, 1, 1)) AS l (id, tenant, n);
        INSERT INTO tb_tag VALUES (1, 'new'), (1, 'old'), (2, 'new');
        INSERT INTO tb_join SELECT tenant, ('00000000-0000-0000-0000-00000000000' || n)::uuid, code
          FROM (VALUES (1, 1, 'new'), (1, 1, 'old'), (2, 1, 'new'), (1, 2, 'gone'), (2, 1, 'new')) AS j (tenant, n, code);";
    let views = [
        ("product", "tenant_id, id"),
        ("line", "id, tenant_id"),
        ("tag", "code"),
        ("join", "tenant_id"),
    ];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

fn options(kind: &str) -> AppOptions {
    macro_rules! queries_of {
        ($kind:ident) => {
            queries![
                $kind::products,
                $kind::lines,
                $kind::held,
                $kind::held_products,
                $kind::made,
                $kind::half,
                $kind::named
            ]
        };
    }
    let list = match kind {
        "columns" => queries_of!(columns),
        "data" => queries_of!(data),
        _ => queries_of!(table),
    };
    AppOptions::new().auto_camel_case(true).queries(list)
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    kinds_with(|_, options| options).await
}

async fn kinds_with(configure: impl Fn(&str, AppOptions) -> AppOptions) -> Kinds {
    let url = TestDatabase::shared("composite_keys", &sql()).await;
    Kinds::serve(|kind| configure(kind, options(kind)).database_url(&url)).await
}

fn products_of(lines: &Value) -> Vec<Option<&str>> {
    lines
        .as_array()
        .expect("a list")
        .iter()
        .map(|line| line["product"]["name"].as_str())
        .collect()
}

const LEADS: [Option<&str>; 7] = [
    Some("apple"),
    Some("bread"),
    Some("cup"),
    None,
    None,
    None,
    Some("apple"),
];

#[tokio::test]
async fn a_relation_to_one_row_uses_all_keys() {
    let kinds = kinds().await;
    for (root, selection) in [
        ("lines(orderBy: [{id: ASC}])", "name"),
        ("lines(orderBy: [{id: ASC}])", "name shout"),
        ("held", "name"),
    ] {
        let answer = kinds
            .same(&format!(
                "{{ lines: {root} {{ product {{ {selection} }} }} }}"
            ))
            .await;
        assert_eq!(products_of(&answer["lines"]), LEADS, "{root} {selection}");
    }
    let made = kinds
        .same(
            "{ one: made(tenant: 1) { product { name } } two: made(tenant: 2) { product { name } }
                      none: made { product { name } } }",
        )
        .await;
    assert_eq!(products_of(&made["one"]), [Some("apple"), None]);
    assert_eq!(products_of(&made["two"]), [Some("cup"), None]);
    assert_eq!(products_of(&made["none"]), [None, None]);
}

#[tokio::test]
async fn a_relation_to_many_rows_uses_all_keys() {
    let kinds = kinds().await;
    let expected = json!([
        {"name": "apple", "lines": [{"id": 1}, {"id": 7}], "tags": [{"code": "new"}, {"code": "old"}]},
        {"name": "bread", "lines": [{"id": 2}], "tags": []},
        // Another tenant's product of the same id, whose tag is joined twice.
        {"name": "cup", "lines": [{"id": 3}], "tags": [{"code": "new"}]},
    ]);
    for root in ["products(orderBy: [{name: ASC}])", "heldProducts"] {
        let answer = kinds
            .same(&format!(
                "{{ products: {root} {{ name lines {{ id }} tags {{ code }} }} }}"
            ))
            .await;
        assert_eq!(answer["products"], expected, "{root}");
    }
    let deep =
        kinds.same("{ lines(where: {id: {eq: 1}}) { product { lines { product { tags(limit: 1) { code } } } } } }").await;
    let line = json!({"product": {"tags": [{"code": "new"}]}});
    assert_eq!(deep["lines"], json!([{"product": {"lines": [line, line]}}]));
}

#[tokio::test]
async fn conditions_and_orders_use_all_keys() {
    let kinds = kinds().await;
    for (condition, expected) in [
        ("{product: {name: {eq: \"cup\"}}}", vec![3]),
        ("{NOT: {product: {}}}", vec![4, 5, 6]),
        (
            "{product: {tags: {some: {code: {eq: \"new\"}}}}}",
            vec![1, 3, 7],
        ),
        (
            "{product: {tags: {none: {code: {eq: \"old\"}}}}}",
            vec![2, 3],
        ),
        ("{product: {lines: {every: {id: {gte: 3}}}}}", vec![3]),
    ] {
        let answer = kinds
            .same(&format!(
                "{{ answer: lines(where: {condition}, orderBy: [{{id: ASC}}]) {{ id }} }}"
            ))
            .await;
        assert_eq!(svc_tests::ids(&answer), expected, "{condition}");
    }
    let ordered = kinds
        .same("{ answer: lines(orderBy: [{product: {name: DESC}}, {id: ASC}]) { id } }")
        .await;
    assert_eq!(svc_tests::ids(&ordered), [4, 5, 6, 3, 2, 1, 7]);
    let named = kinds
        .same("{ answer: named(name: \"apple\") { id } }")
        .await;
    assert_eq!(svc_tests::ids(&named), [1, 7]);
}

#[tokio::test]
async fn policies_bind_rows_related_by_all_keys() {
    let policy = |kind: &str, options: AppOptions| {
        let first = |_: &Context<'_>| Ok(RowDecision::allow_where(col("tenant_id").eq(1)));
        match kind {
            "columns" => options.row_policy::<columns::Product>(first),
            "data" => options.row_policy::<data::Product>(first),
            _ => options.row_policy::<table::Product>(first),
        }
    };
    let kinds = kinds_with(policy).await;
    for root in ["lines(orderBy: [{id: ASC}])", "held"] {
        let answer = kinds
            .same(&format!("{{ lines: {root} {{ product {{ name }} }} }}"))
            .await;
        let expected = LEADS.map(|name| name.filter(|name| *name != "cup"));
        assert_eq!(products_of(&answer["lines"]), expected, "{root}");
    }
}

#[tokio::test]
async fn a_tree_by_several_keys_is_one_statement() {
    let database = TestDatabase::copy_of("composite_keys", &sql()).await;
    let app = App::serve(options("columns").database_url(database.url())).await;
    for (query, count) in [
        (
            "{ lines { product { name tags { code } lines { id } } } }",
            1,
        ),
        // One statement for the rows in hand, and one for what they lead to.
        ("{ held { product { name } } }", 2),
    ] {
        let before = database.statements("\"c_").await;
        app.query(query).await.data();
        assert_eq!(database.statements("\"c_").await - before, count, "{query}");
    }
}

#[tokio::test]
async fn a_value_with_too_few_keys_is_named_in_the_log() {
    let url = TestDatabase::shared("composite_keys", &sql()).await;
    let log = svc_tests::Log::start();
    let app = App::serve(options("columns").database_url(url)).await;
    let reply = app.query("{ half { id product { name } } }").await;
    assert_eq!(
        reply.json()["data"],
        json!({"half": [{"id": 9, "product": null}]}),
        "{}",
        reply.text
    );
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR");
    log.has("starts at the keys `tenant_id`, `product_id`, and a value of it was made with 1")
        .await;
}

#[svc_type(sql_source = "c_line")]
struct Lost {
    id: i32,
    #[relation(from = ["tenant_id", "gone_id"], to = ["missing_id", "id"])]
    product: Option<One<columns::Product>>,
    /// A number is no UUID.
    #[relation(from = ["product_id", "tenant_id"], to = ["id", "id"])]
    other: Option<One<columns::Product>>,
}

#[svc::query]
async fn lost() -> Vec<Lost>;

#[tokio::test]
async fn each_key_is_checked_at_the_start() {
    let sql = sql()
        + "DROP VIEW c_product, c_line; CREATE VIEW c_product AS SELECT * FROM tb_product;
                       CREATE VIEW c_line AS SELECT * FROM tb_line;";
    let database = TestDatabase::new(&sql).await;
    let options = AppOptions::new().queries(queries![lost]);
    let findings = svc::testing::check_views(&options, &database.url())
        .await
        .expect("findings");
    let findings = format!("{findings:#?}");
    for part in [
        "a relation needs the key `gone_id` of `c_line`",
        "a relation needs the key `missing_id` of `c_product`",
        "`tenant_id` of `c_line` is integer, and `id` of `c_product` is uuid",
    ] {
        assert!(findings.contains(part), "{part}: {findings}");
    }
}
