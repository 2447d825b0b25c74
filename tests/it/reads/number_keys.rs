//! Relations between keys of different types of numbers, which are compared as PostgreSQL does.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_from")]
struct Start {
    id: i32,
    num: Decimal,
    float: f64,
    word: String,
    #[relation(from = "num", to = "num")]
    by_num: Many<End>,
    #[relation(from = "float", to = "num")]
    by_float: Many<End>,
    #[relation(from = ["word", "num"], to = ["word", "num"])]
    by_both: Many<End>,
}

#[svc_type(sql_source = "v_to")]
struct End {
    id: i32,
    num: i32,
    word: String,
}

#[svc::query]
async fn planned() -> Vec<Start>;
#[svc::query]
async fn in_hand(ctx: &Context<'_>) -> Result<Vec<Start>> {
    ctx.db().find::<Start>().order_by(asc("id")).await
}

const SQL: &str = "
    CREATE TABLE tb_from (id int, num numeric, float float8, word text);
    INSERT INTO tb_from VALUES (1, 1.0, 1, 'a'), (2, 2.5, 2.5, 'a'), (3, 3e0, 3, 'b'), (4, 1e20, 1e20, 'a'), (5, 2.000, 2, 'a');
    CREATE TABLE tb_to (id int, num int, word text);
    INSERT INTO tb_to VALUES (11, 1, 'a'), (12, 2, 'a'), (13, 3, 'a');
    CREATE VIEW v_from AS SELECT * FROM tb_from;
    CREATE VIEW v_to AS SELECT * FROM tb_to;";

#[tokio::test]
async fn resolved_and_planned_relations_compare_keys_alike() {
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![planned, in_hand]),
    )
    .await;
    let ids = |ids: &[i32]| ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>();
    let expected: Vec<_> = [
        (vec![11], vec![11]),
        (vec![], vec![]),
        (vec![13], vec![]),
        (vec![], vec![]),
        (vec![12], vec![12]),
    ]
    .iter()
    .map(|(one, both)| json!({"by_num": ids(one), "by_float": ids(one), "by_both": ids(both)}))
    .collect();
    for field in ["planned(order_by: [{id: ASC}])", "in_hand"] {
        let reply = app
            .query(&format!(
                "{{ rows: {field} {{ by_num {{ id }} by_float {{ id }} by_both {{ id }} }} }}"
            ))
            .await;
        assert_eq!(
            reply.data()["rows"],
            json!(expected),
            "{field}: {}",
            reply.text
        );
    }
}
