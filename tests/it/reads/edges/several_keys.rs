//! Edges of a relation by several keys.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{Kinds, TestDatabase, three_views};

/// The same types over views of one kind.
#[rustfmt::skip]
macro_rules! shop {
    ($kind:ident, $item:literal, $label:literal, $join:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(sql_source = $item)]
            pub(super) struct Item {
                tenant_id: i32,
                id: i32,
                #[relation(
                    from = ["tenant_id", "id"], through = Labelled, here = ["tenant_id", "item_id"],
                    there = ["tenant_id", "label_id"], to = ["tenant_id", "id"],
                    order_by = "-edge.weight", connection
                )]
                labels: Many<Label>,
            }

            #[svc_type(sql_source = $join)]
            struct Labelled {
                weight: i32,
            }

            #[svc_type(sql_source = $label)]
            struct Label {
                tenant_id: i32,
                id: i32,
                name: String,
            }

            #[svc::query]
            pub(super) async fn items() -> Vec<Item>;
            /// Rows in hand.
            #[svc::query]
            pub(super) async fn held(ctx: &Context<'_>) -> Result<Vec<Item>> {
                ctx.db().find::<Item>().order_by(asc("id")).await
            }
        }
    };
}

shop!(columns, "c_item", "c_label", "c_labelled");
shop!(data, "d_item", "d_label", "d_labelled");
shop!(table, "tv_item", "tv_label", "tv_labelled");

/// The labels of both tenants have the same identifiers.
fn sql() -> String {
    let tables = "
        CREATE TABLE tb_item (tenant_id int, id int, PRIMARY KEY (tenant_id, id));
        CREATE TABLE tb_label (tenant_id int, id int, name text NOT NULL, PRIMARY KEY (tenant_id, id));
        CREATE TABLE tb_labelled (tenant_id int, item_id int, label_id int, weight int NOT NULL);
        INSERT INTO tb_item VALUES (1, 1), (2, 2);
        INSERT INTO tb_label SELECT t, n, (ARRAY['red', 'blue'])[t] || ' ' || n
          FROM generate_series(1, 2) t, generate_series(1, 5) n;
        INSERT INTO tb_labelled SELECT t, t, n, n * 7 % 5 FROM generate_series(1, 2) t, generate_series(1, 5) n;
        INSERT INTO tb_labelled VALUES (1, 2, 3, 99), (2, 1, 4, 99), (1, NULL, 1, 99);";
    let views = [
        ("item", "tenant_id, id"),
        ("label", "tenant_id"),
        ("labelled", "tenant_id, item_id"),
    ];
    tables.to_owned()
        + &views
            .map(|(name, columns)| three_views(name, columns))
            .concat()
}

fn options(kind: &str) -> AppOptions {
    let queries = match kind {
        "columns" => queries![columns::items, columns::held],
        "data" => queries![data::items, data::held],
        _ => queries![table::items, table::held],
    };
    AppOptions::new().auto_camel_case(true).queries(queries)
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    let url = TestDatabase::shared("edges_several_keys", &sql()).await;
    Kinds::serve(|kind| options(kind).database_url(&url)).await
}

#[tokio::test]
async fn edges_join_rows_of_the_same_tenant() {
    let kinds = kinds().await;
    for root in ["items(orderBy: [{id: ASC}])", "held"] {
        let answer =
            kinds.same(&format!("{{ items: {root} {{ labels {{ name }} page: labelsConnection {{ edges {{ weight node {{ name }} }} }} }} }}"))
                .await;
        for (at, color) in ["red", "blue"].into_iter().enumerate() {
            let labels: Vec<_> = [2, 4, 1, 3, 5]
                .map(|n| json!({ "name": format!("{color} {n}") }))
                .into();
            assert_eq!(
                answer["items"][at]["labels"],
                Value::from(labels.clone()),
                "{root}"
            );
            let edges = labels.into_iter().zip([4, 3, 2, 1, 0]);
            let edges: Vec<_> = edges
                .map(|(node, weight)| json!({ "weight": weight, "node": node }))
                .collect();
            assert_eq!(
                answer["items"][at]["page"]["edges"],
                Value::from(edges),
                "{root}"
            );
        }
    }
}

#[tokio::test]
async fn cursors_walk_edges_by_several_keys() {
    let kinds = kinds().await;
    for (args, ahead) in [("first: 2, after", true), ("last: 2, before", false)] {
        let (mut cursor, mut found) = (String::new(), Vec::new());
        loop {
            let given = match cursor.as_str() {
                "" => args.split(',').next().unwrap().to_owned(),
                cursor => format!("{args}: \"{cursor}\""),
            };
            let answer = kinds.same(&format!(
                "{{ items(where: {{tenantId: {{eq: 2}}}}) {{ page: labelsConnection(orderBy: [{{edge: {{weight: ASC}}}}], {given}) {{
                     edges {{ weight }} pageInfo {{ startCursor endCursor hasNextPage hasPreviousPage }} }} }} }}"
            ))
            .await;
            let page = &answer["items"][0]["page"];
            found.push(
                page["edges"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|edge| edge["weight"].clone())
                    .collect::<Vec<_>>(),
            );
            let (more, next) = if ahead {
                ("hasNextPage", "endCursor")
            } else {
                ("hasPreviousPage", "startCursor")
            };
            if page["pageInfo"][more] == false {
                break;
            }
            page["pageInfo"][next]
                .as_str()
                .unwrap()
                .clone_into(&mut cursor);
        }
        let expected = if ahead {
            json!([[0, 1], [2, 3], [4]])
        } else {
            json!([[3, 4], [1, 2], [0]])
        };
        assert_eq!(Value::from(found), expected);
    }
}
