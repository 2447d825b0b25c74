//! Orders by the row that joins, and their cursors.

use serde_json::{Value, json};

use super::{ROOTS, kinds};

#[tokio::test]
async fn rows_are_ordered_by_fields_of_their_edges() {
    let kinds = kinds().await;
    let orders = [
        ("edge: {position: ASC}", json!(["fruit", "sale", "food"])),
        ("edge: {position: DESC}", json!(["food", "sale", "fruit"])),
        (
            "edge: {way: DESC}}, {edge: {note: ASC_NULLS_FIRST}",
            json!(["fruit", "food", "sale"]),
        ),
        (
            "edge: {shelf: {row: ASC}}}, {name: DESC",
            json!(["fruit", "sale", "food"]),
        ),
    ];
    for (root, shown) in ROOTS
        .into_iter()
        .flat_map(|root| [(root, "name"), (root, "name loud")])
    {
        let fields = orders.iter().enumerate().map(|(at, (order, _))| {
            format!(
                "list{at}: categories(orderBy: [{{{order}}}]) {{ {shown} }}
                 page{at}: categoriesConnection(orderBy: [{{{order}}}]) {{ nodes {{ {shown} }} }}"
            )
        });
        let fields = fields.collect::<String>();
        let answer = kinds
            .same(&format!("{{ products: {root} {{ {fields} }} }}"))
            .await;
        for (at, (order, expected)) in orders.iter().enumerate() {
            let apple = &answer["products"][0];
            for rows in [
                &apple[format!("list{at}")],
                &apple[format!("page{at}")]["nodes"],
            ] {
                let names: Value = rows
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|row| row["name"].clone())
                    .collect();
                assert_eq!(names, *expected, "{root} {order} {shown}");
            }
        }
    }
}

#[tokio::test]
async fn a_default_order_uses_fields_of_the_edges() {
    let kinds = kinds().await;
    let answer =
        kinds.same("{ categories(orderBy: [{name: ASC}]) { name products { name } goods { nodes { name } } } }").await;
    let apple_last = json!([{"name": "bread"}, {"name": "apple"}]);
    let sale = json!([{"name": "cup"}, {"name": "apple"}]);
    let of = |at: usize| {
        (
            &answer["categories"][at]["products"],
            &answer["categories"][at]["goods"]["nodes"],
        )
    };
    let apple_first: Vec<&Value> = apple_last.as_array().unwrap().iter().rev().collect();
    assert_eq!(of(0), (&json!(apple_first), &json!(apple_first)));
    assert_eq!(of(3), (&sale, &sale));
}

#[tokio::test]
async fn cursors_go_both_ways_through_an_order_by_edges() {
    let kinds = kinds().await;
    let page = "edges { cursor position node { name } } pageInfo { hasNextPage hasPreviousPage }";
    for root in [
        "products(where: {id: {eq: 1}})",
        "products(where: {id: {eq: 1}}) @skip(if: false)",
    ] {
        for (order, names) in [
            ("{edge: {position: ASC}}", ["fruit", "sale", "food"]),
            ("{edge: {note: DESC}}", ["food", "fruit", "sale"]),
        ] {
            let shown = if root.contains("skip") { "shout" } else { "id" };
            let ask = async |arguments: String| {
                let query = format!(
                    "{{ products: {root} {{ {shown} page: categoriesConnection({arguments}, orderBy: [{order}]) {{ {page} }} }} }}"
                );
                kinds.same(&query).await["products"][0]["page"].take()
            };
            let first = ask("first: 1".to_owned()).await;
            assert_eq!(first["edges"][0]["node"]["name"], names[0], "{order}");
            assert_eq!(
                first["pageInfo"],
                json!({"hasNextPage": true, "hasPreviousPage": false})
            );
            let rest = ask(format!("first: 5, after: {}", first["edges"][0]["cursor"])).await;
            let found: Value = rest["edges"]
                .as_array()
                .unwrap()
                .iter()
                .map(|edge| edge["node"]["name"].clone())
                .collect();
            assert_eq!(found, json!(names[1..]), "{order}");
            assert_eq!(
                rest["pageInfo"],
                json!({"hasNextPage": false, "hasPreviousPage": true})
            );
            let back = ask(format!("last: 1, before: {}", rest["edges"][1]["cursor"])).await;
            assert_eq!(back["edges"][0]["node"]["name"], names[1], "{order}");
        }
    }
}
