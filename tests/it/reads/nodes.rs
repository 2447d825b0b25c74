//! Rows by the opaque ids of nodes, over the three kinds of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Kinds, TestDatabase, three_views};

/// The same types over views of one kind.
macro_rules! shop {
    ($kind:ident, $product:literal, $line:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = "Product", sql_source = $product)]
            pub(super) struct Product {
                pub(super) id: Uuid,
                pub(super) name: String,
                pub(super) hidden: bool,
                #[relation]
                pub(super) lines: Many<Line>,
            }

            #[svc_type]
            impl Product {
                fn shout(&self) -> String {
                    self.name.to_uppercase()
                }
            }

            #[svc_type(name = "Line", sql_source = $line)]
            pub(super) struct Line {
                pub(super) id: i32,
                pub(super) amount: i32,
                #[relation]
                pub(super) product: Option<One<Product>>,
            }

            #[svc::query]
            pub(super) async fn products() -> Vec<Product>;
            /// Rows in hand.
            #[svc::query]
            pub(super) async fn held(ctx: &Context<'_>) -> Result<Vec<Line>> {
                ctx.db().find::<Line>().order_by(asc("id")).await
            }

            pub(super) fn options() -> AppOptions {
                AppOptions::new()
                    .queries(queries![products, held])
                    .nodes(types![Product, Line])
            }

            pub(super) fn governed() -> AppOptions {
                options().row_policy::<Product>(|_: &Context<'_>| {
                    Ok(RowDecision::allow_where(col("hidden").eq(false)))
                })
            }
        }
    };
}

shop!(columns, "c_product", "c_line");
shop!(data, "d_product", "d_line");
shop!(table, "tv_product", "tv_line");

fn sql() -> String {
    let tables = "
        CREATE TABLE tb_product (id uuid PRIMARY KEY, name text NOT NULL, hidden bool NOT NULL);
        CREATE TABLE tb_line (id int PRIMARY KEY, amount int NOT NULL, product_id uuid);
        INSERT INTO tb_product SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'product ' || n, n = 2
          FROM generate_series(1, 2) n;
        INSERT INTO tb_line SELECT n, n * 10, ('00000000-0000-0000-0000-00000000000' || n)::uuid FROM generate_series(1, 3) n;";
    let views = [("product", "id"), ("line", "id")];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

const KINDS: [&str; 3] = ["columns", "data", "table"];

fn options(kind: &str, is_governed: bool) -> AppOptions {
    let options = match (kind, is_governed) {
        ("columns", false) => columns::options(),
        ("columns", true) => columns::governed(),
        ("data", false) => data::options(),
        ("data", true) => data::governed(),
        (_, false) => table::options(),
        (_, true) => table::governed(),
    };
    options.auto_camel_case(true)
}

/// The services of the three kinds, which must give the same answers.
async fn kinds(is_governed: bool) -> Kinds {
    let url = url().await;
    Kinds::serve(|kind| options(kind, is_governed).database_url(&url)).await
}

/// The URL of a database that no test changes.
async fn url() -> String {
    TestDatabase::shared("nodes", &sql()).await
}

/// `Product:00000000-0000-0000-0000-00000000000n` and `Line:n`.
fn product(n: i32) -> String {
    id(&format!("Product:00000000-0000-0000-0000-00000000000{n}"))
}

fn id(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}

#[tokio::test]
async fn each_row_is_found_by_its_node_id() {
    let kinds = kinds(false).await;
    let answer =
        kinds.same("{ products(orderBy: [{id: ASC}]) { nodeId id lines { nodeId again: nodeId } } held { nodeId } }").await;
    assert_eq!(answer["products"][0]["nodeId"], json!(product(1)));
    assert_eq!(
        answer["products"][0]["lines"],
        json!([{"nodeId": id("Line:1"), "again": id("Line:1")}])
    );
    assert_eq!(
        answer["held"],
        json!([{"nodeId": id("Line:1")}, {"nodeId": id("Line:2")}, {"nodeId": id("Line:3")}])
    );
    let selection = "{ __typename nodeId ... on Product { name shout lines { amount } } ... on Line { amount product { name } } }";
    let (one, two) = (product(1), id("Line:2"));
    let answer = kinds
        .same(&format!(
            "{{ a: node(id: \"{one}\") {selection} b: node(id: \"{two}\") {selection} }}"
        ))
        .await;
    assert_eq!(
        answer,
        json!({
            "a": {"__typename": "Product", "nodeId": one, "name": "product 1", "shout": "PRODUCT 1", "lines": [{"amount": 10}]},
            "b": {"__typename": "Line", "nodeId": two, "amount": 20, "product": {"name": "product 2"}},
        })
    );
    let ids = [
        id("Line:3"),
        product(2),
        id("Line:9"),
        id("Gone:1"),
        product(1),
        id("Line:3"),
    ];
    let answer = kinds
        .same(&format!("{{ nodes(ids: {}) {{ nodeId }} }}", json!(ids)))
        .await;
    let found = [
        Some(&ids[0]),
        Some(&ids[1]),
        None,
        None,
        Some(&ids[4]),
        Some(&ids[5]),
    ];
    assert_eq!(
        answer["nodes"],
        json!(found.map(|id| id.map_or(Value::Null, |id| json!({"nodeId": id}))))
    );
    assert_eq!(
        kinds.same("{ nodes(ids: []) { nodeId } }").await,
        json!({"nodes": []})
    );
}

#[tokio::test]
async fn policies_hold_for_nodes() {
    let kinds = kinds(true).await;
    let query = format!(
        "{{ nodes(ids: {}) {{ nodeId ... on Line {{ product {{ name }} }} }} }}",
        json!([product(2), id("Line:2")])
    );
    let answer = kinds.same(&query).await;
    assert_eq!(
        answer["nodes"],
        json!([null, {"nodeId": id("Line:2"), "product": null}])
    );
    for (kept_back, seen) in [(product(2), product(1)), (product(9), product(1))] {
        let query = format!(
            "{{ kept: node(id: {kept_back:?}) {{ nodeId }} seen: node(id: {seen:?}) {{ nodeId }} }}"
        );
        assert_eq!(
            kinds.same(&query).await,
            json!({"kept": null, "seen": {"nodeId": seen}})
        );
    }
}

#[tokio::test]
async fn rows_of_a_type_are_one_statement() {
    let database = TestDatabase::copy_of("nodes", &sql()).await;
    let app = App::serve(options("columns", false).database_url(database.url())).await;
    let query = format!(
        "{{ nodes(ids: {}) {{ nodeId ... on Product {{ name lines {{ amount }} }} ... on Line {{ amount }} }} }}",
        json!([
            product(1),
            product(2),
            id("Line:1"),
            id("Line:2"),
            id("Line:7")
        ])
    );
    let before = database.statements("\"c_").await;
    app.query(&query).await.data();
    assert_eq!(database.statements("\"c_").await - before, 2);
}

#[tokio::test]
async fn a_malformed_node_id_is_a_client_error() {
    let url = url().await;
    let app = App::serve(options("data", false).database_url(url)).await;
    for wrong in [
        "",
        "x",
        "Product:1",
        &id("Product"),
        &id("Product:1"),
        &id("Line:x"),
        &id("Line:99999999999"),
    ] {
        for query in [
            format!("{{ node(id: {wrong:?}) {{ nodeId }} }}"),
            format!("{{ node: nodes(ids: [{wrong:?}]) {{ nodeId }} }}"),
        ] {
            let reply = app.query(&query).await;
            assert_eq!(reply.code(), "BAD_USER_INPUT", "{query}: {}", reply.text);
            assert!(
                reply.message().contains("is not the id of a node"),
                "{}",
                reply.text
            );
        }
    }
    let many = vec![product(1); 1_001];
    let reply = app
        .query_with(
            "query ($ids: [ID!]!) { nodes(ids: $ids) { nodeId } }",
            json!({"ids": many}),
        )
        .await;
    assert!(
        reply.message().contains("1000 rows") || reply.message().contains("complexity"),
        "{}",
        reply.text
    );
    // Each id counts as a row.
    let cheap = app
        .query_with(
            "query ($ids: [ID!]!) { nodes(ids: $ids) { nodeId } }",
            json!({"ids": [product(1)]}),
        )
        .await;
    assert_eq!(cheap.data(), json!({"nodes": [{"nodeId": product(1)}]}));
}

#[tokio::test]
async fn the_authorizer_decides_about_nodes() {
    let url = url().await;
    let allowed = product(1);
    let known = allowed.clone();
    let options = options("table", false).authorizer(move |request: AuthorizationRequest| {
        let known = known.clone();
        async move {
            request.operation_name() != "node"
                || request
                    .argument::<ID>("id")
                    .is_ok_and(|id| id.as_str() == known)
        }
    });
    let app = App::serve(options.database_url(url)).await;
    assert_eq!(
        app.query(&format!("{{ node(id: \"{allowed}\") {{ nodeId }} }}"))
            .await
            .data(),
        json!({"node": {"nodeId": allowed}})
    );
    let reply = app
        .query(&format!("{{ node(id: \"{}\") {{ nodeId }} }}", product(2)))
        .await;
    assert_eq!(
        (reply.code().as_str(), &reply.json()["data"]),
        ("FORBIDDEN", &json!({"node": null})),
        "{}",
        reply.text
    );
}

/// Its columns are those of one view, and nodes are rows of several, so it decides about none.
#[tokio::test]
async fn an_authorizer_filter_denies_all_nodes() {
    let url = url().await;
    for kind in KINDS {
        let filter = |_: AuthorizationRequest| async {
            AuthorizationDecision::allow_where(col("hidden").eq(false))
        };
        let app = App::serve(options(kind, false).authorizer(filter).database_url(&url)).await;
        for row in [product(1), product(2), product(9), id("Line:1")] {
            let reply = app
                .query(&format!("{{ node(id: {row:?}) {{ nodeId }} }}"))
                .await;
            assert_eq!(reply.code(), "FORBIDDEN", "{kind}: {}", reply.text);
            assert_eq!(reply.json()["data"], json!({"node": null}), "{kind}");
        }
    }
}

#[svc_type(sql_source = "c_line")]
struct Keyless {
    amount: i32,
}

#[svc_type(sql_source = "c_product")]
struct Guarded {
    #[svc::requires_auth]
    id: Uuid,
    name: String,
}

#[svc_type(sql_source = "c_product")]
struct Named {
    id: Uuid,
    node_id: Option<String>,
}

#[svc::query]
async fn keyless() -> Vec<Keyless>;

#[test]
fn types_that_cannot_be_nodes_are_named() {
    let of = |types| {
        AppOptions::new()
            .queries(queries![keyless])
            .nodes(types)
            .sdl()
    };
    for (sdl, part) in [
        (
            of(types![Keyless]),
            "Keyless` is listed in `nodes`, but stores no `id`",
        ),
        (
            of(types![Guarded]),
            "Guarded` is listed in `nodes`, but has an `id` that not everybody may learn",
        ),
        (of(types![Named]), "both become `node_id` in GraphQL"),
    ] {
        let error = sdl.expect_err("a mistake").to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn the_schema_has_the_interface() {
    let sdl = options("columns", false).sdl().expect("a schema");
    for part in [
        "interface Node {",
        "type Product implements Node {",
        "nodeId: ID!",
        "): [Node]!",
        "id: ID!\n  ): Node\n",
    ] {
        assert!(sdl.contains(part), "{part}: {sdl}");
    }
    assert!(!sdl.contains("nodeId: IDFilter"));
    assert!(
        !AppOptions::new()
            .queries(queries![keyless])
            .sdl()
            .expect("a schema")
            .contains("Node")
    );
}

/// Types whose ids are texts to the schema, and not to the database.
macro_rules! texts {
    ($($name:ident: $source:literal, $id:ty;)*) => {
        $(#[svc_type(sql_source = $source)]
        struct $name {
            id: $id,
            name: String,
        })*
    };
}

texts! {
    OfUuid: "c_product", ID;
    TextOfUuid: "c_product", String;
    DataOfUuid: "d_product", ID;
    TableOfUuid: "tv_product", ID;
    OfInt: "c_number", ID;
    TextOfInt: "c_number", String;
    OfBigInt: "c_big", ID;
    OfText: "c_word", ID;
    OfChar: "c_letters", ID;
    OfColour: "c_colour", ID;
}

const TEXTS: &str = "
    CREATE TYPE colour AS ENUM ('red', 'green');
    CREATE VIEW c_number AS SELECT 7 AS id, 'seven' AS name;
    CREATE VIEW c_big AS SELECT 7::bigint AS id, 'seven' AS name;
    CREATE VIEW c_word AS SELECT 'a'::text AS id, 'letter' AS name;
    CREATE VIEW c_letters AS SELECT 'a'::varchar(3) AS id, 'letters' AS name;
    CREATE VIEW c_colour AS SELECT 'red'::colour AS id, 'warm' AS name;";

#[tokio::test]
async fn a_forged_key_outside_its_column_type_is_a_client_error() {
    let database = TestDatabase::new(&(sql() + TEXTS)).await;
    let nodes = types![
        OfUuid,
        TextOfUuid,
        DataOfUuid,
        TableOfUuid,
        OfInt,
        TextOfInt,
        OfBigInt,
        OfText,
        OfChar,
        OfColour
    ];
    let options = AppOptions::new()
        .queries(queries![keyless])
        .nodes(nodes)
        .auto_camel_case(true);
    let app = App::serve(options.database_url(database.url())).await;
    let uuid = "00000000-0000-0000-0000-000000000001";
    for (name, good) in [
        ("OfUuid", uuid),
        ("TextOfUuid", uuid),
        ("DataOfUuid", uuid),
        ("TableOfUuid", uuid),
        ("OfInt", "7"),
        ("TextOfInt", "7"),
        ("OfBigInt", "7"),
        ("OfText", "a"),
        ("OfChar", "a"),
        ("OfColour", "red"),
    ] {
        let ask = async |keys: &[&str]| {
            let ids: Vec<_> = keys
                .iter()
                .map(|key| id(&format!("{name}:{key}")))
                .collect();
            app.query(&format!("{{ nodes(ids: {}) {{ nodeId }} }}", json!(ids)))
                .await
        };
        let found = ask(&[good]).await;
        assert_eq!(
            found.json()["errors"],
            json!(null),
            "{name}: {}",
            found.text
        );
        assert_eq!(
            found.data(),
            json!({"nodes": [{"nodeId": id(&format!("{name}:{good}"))}]}),
            "{name}"
        );
        for forged in [
            "",
            "x",
            "-1",
            "99999999999",
            "99999999999999999999",
            "2024-99-99",
            "' OR 1=1 --",
            "blue",
        ] {
            let reply = ask(&[forged, good]).await;
            let answer = reply.json();
            match answer["errors"][0]["extensions"]["code"].as_str() {
                None => assert_eq!(
                    answer["data"]["nodes"][0],
                    json!(null),
                    "{name}, {forged}: {answer}"
                ),
                Some(code) => assert_eq!(code, "BAD_USER_INPUT", "{name}, {forged}: {answer}"),
            }
        }
    }
}
