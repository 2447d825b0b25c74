//! Policies, masks and guards of the type that joins.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::App;

use super::{ROOTS, columns, data, kinds_with, table, url};

/// Gives each kind a policy about the rows that join.
macro_rules! govern {
    ($kind:expr, $options:expr, $method:ident($($args:expr),*)) => {
        match $kind {
            "columns" => $options.$method::<columns::Placing>($($args),*),
            "data" => $options.$method::<data::Placing>($($args),*),
            _ => $options.$method::<table::Placing>($($args),*),
        }
    };
}

#[tokio::test]
async fn join_rows_withheld_by_a_policy_join_nothing() {
    let low = |_: &Context<'_>| Ok(RowDecision::allow_where(col("position").lt(3)));
    let kinds = kinds_with(|kind, options| govern!(kind, options, row_policy(low))).await;
    for (root, shown) in ROOTS
        .into_iter()
        .flat_map(|root| [(root, "name"), (root, "name loud")])
    {
        let answer = kinds
            .same(&format!(
                "{{ products: {root} {{ categories {{ name }} categoriesAggregate {{ count }}
                     page: categoriesConnection(orderBy: [{{edge: {{position: DESC}}}}]) {{
                       totalCount edges {{ position node {{ {shown} }} }} }} }} }}"
            ))
            .await;
        let products = answer["products"].as_array().unwrap();
        let apple = products[0]["page"]["edges"].as_array().unwrap();
        assert_eq!(products[0]["categories"].as_array().unwrap().len(), 2);
        assert_eq!(
            apple
                .iter()
                .map(|edge| &edge["position"])
                .collect::<Vec<_>>(),
            [&json!(2), &json!(1)]
        );
        let counts = products.iter().map(|row| {
            (
                &row["page"]["totalCount"],
                &row["categoriesAggregate"]["count"],
            )
        });
        let expected = [2, 1, 0].map(|count| json!(count));
        assert_eq!(
            counts.collect::<Vec<_>>(),
            expected
                .iter()
                .map(|count| (count, count))
                .collect::<Vec<_>>(),
            "{root}"
        );
    }
    let answer = kinds.same(
        r#"{ some: products(where: {categories: {some: {name: {eq: "food"}}}}, orderBy: [{id: ASC}]) { id }
             none: products(where: {categories: {none: {}}}, orderBy: [{id: ASC}]) { id }
             many: products(where: {categoriesAggregate: {count: {gte: 2}}}) { id } }"#,
    )
    .await;
    assert_eq!(
        answer,
        json!({"some": [{"id": 2}], "none": [{"id": 3}], "many": [{"id": 1}]})
    );
}

#[tokio::test]
async fn a_masked_field_of_an_edge_is_null_and_orders_as_null() {
    let ripe = |_: &Context<'_>| Ok(RowDecision::allow_where(col("note").eq("ripe")));
    let kinds = kinds_with(|kind, options| govern!(kind, options, mask_where("note", ripe))).await;
    for root in ROOTS {
        let answer = kinds.same(
            &format!(
                "{{ products: {root} {{ categoriesConnection(orderBy: [{{edge: {{note: ASC}}}}, {{name: DESC}}]) {{
                     edges {{ note node {{ name }} }} }} }} }}"
            ),
        )
        .await;
        assert_eq!(
            answer["products"][0]["categoriesConnection"]["edges"],
            json!([
                {"note": "ripe", "node": {"name": "fruit"}},
                {"note": null, "node": {"name": "sale"}},
                {"note": null, "node": {"name": "food"}},
            ]),
            "{root}"
        );
    }
}

/// Values of a policy are bound again for each request, also where a statement is cached.
#[tokio::test]
async fn cached_statements_bind_policy_values_per_request() {
    let of_client = |cx: &Context<'_>| {
        let most: i32 = cx
            .header("x-most")
            .and_then(|most| most.parse().ok())
            .unwrap_or(0);
        Ok(RowDecision::allow_where(col("position").lte(most)))
    };
    let kinds = kinds_with(|kind, options| govern!(kind, options, row_policy(of_client))).await;
    for (kind, app) in kinds.each() {
        for (most, count) in [("1", 1), ("2", 2), ("3", 3), ("1", 1)] {
            let query = "query ($name: String) { products(where: {name: {eq: $name}}) {
                           categoriesConnection(orderBy: [{edge: {position: ASC}}]) { totalCount edges { position } } } }";
            let body = json!({"query": query, "variables": {"name": "apple"}}).to_string();
            let request = app
                .request("POST", "/graphql")
                .header("content-type", "application/json");
            let answer = app
                .send(request.header("x-most", most).body(body))
                .await
                .data();
            let page = &answer["products"][0]["categoriesConnection"];
            assert_eq!(
                (&page["totalCount"], page["edges"].as_array().unwrap().len()),
                (&json!(count), count),
                "{kind}"
            );
        }
    }
}

mod gated {
    use super::*;

    #[svc_type(sql_source = "c_product")]
    pub(super) struct Product {
        id: i32,
        #[relation(through = Placing, here = "product_id", there = "category_id", connection)]
        categories: Many<Category>,
    }

    #[svc_type(sql_source = "c_placing")]
    struct Placing {
        position: i32,
        #[svc::requires_role("clerk")]
        note: Option<String>,
    }

    #[svc_type(sql_source = "c_category")]
    struct Category {
        id: Uuid,
        name: String,
    }

    #[svc::query]
    pub(super) async fn products() -> Vec<Product>;
}

#[tokio::test]
async fn a_guard_of_the_join_type_holds_on_edges_and_in_orders() {
    let options = AppOptions::new()
        .database_url(url().await)
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![gated::products])).await;
    let ask = async |rest: &str| {
        let query = format!("{{ products(where: {{id: {{eq: 1}}}}) {{ id {rest} }} }}");
        app.query(&query).await.json()
    };
    let open =
        ask("categoriesConnection(orderBy: [{edge: {position: ASC}}]) { edges { position } }")
            .await;
    assert_eq!(open["errors"], Value::Null, "{open}");
    let selected = ask("categoriesConnection { edges { position note } }").await;
    assert_eq!(
        selected["errors"][0]["extensions"]["code"], "UNAUTHENTICATED",
        "{selected}"
    );
    assert_eq!(
        selected["data"]["products"][0]["categoriesConnection"]["edges"][0]["note"],
        Value::Null
    );
    for ordered in [
        "categoriesConnection(orderBy: [{edge: {note: ASC}}]) { edges { position } }",
        "categories(orderBy: [{edge: {note: ASC}}]) { name }",
    ] {
        let ordered = ask(ordered).await;
        assert_eq!(
            ordered["errors"][0]["extensions"]["code"], "UNAUTHENTICATED",
            "{ordered}"
        );
    }
}
