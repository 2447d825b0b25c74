//! Statistics of statements, and the root fields that they belong to.

use svc::MetricsConfig;
use svc::prelude::*;
use svc::query_stats::{MIGRATION, QueryStatsOrder, init_query_stats};
use svc_tests::{App, eventually, is_alone};

use super::shop::{shop, things_database};

#[tokio::test]
async fn statements_are_joined_with_the_root_fields_that_ran_them() {
    if !is_alone(
        module_path!(),
        "statements_are_joined_with_the_root_fields_that_ran_them",
    ) {
        return;
    }
    let database = things_database().await;
    let statistics = init_query_stats(database.pool().await);
    let empty = statistics
        .get_stats(5, QueryStatsOrder::Calls)
        .await
        .unwrap();
    assert!(
        empty.is_empty(),
        "without the view there are none: {empty:?}"
    );
    database.execute(MIGRATION).await;
    assert_eq!(
        statistics
            .get_stats(5, QueryStatsOrder::Calls)
            .await
            .unwrap(),
        [],
        "nor without the extension"
    );
    database
        .execute("CREATE SCHEMA extra; CREATE EXTENSION pg_stat_statements SCHEMA extra")
        .await;
    database.execute(MIGRATION).await;
    database.execute(MIGRATION).await;

    let off = MetricsConfig {
        enabled: Some(false),
        ..MetricsConfig::default()
    };
    let app = App::serve_router(shop(&database, SvcConfig::default(), off).await).await;
    let list = "{ things(limit: 3, where: {name: {contains: \"thing\"}, id: {gt: 0}}) { name } }";
    for _ in 0..7 {
        app.query(list).await.data();
    }
    app.query("mutation { add_thing(input: {id: 100, name: \"new\"}) { __typename } }")
        .await
        .data();
    let found = eventually(async || {
        let all = statistics
            .get_stats(100, QueryStatsOrder::TotalExecTime)
            .await
            .unwrap();
        let of = |field: &str| {
            all.iter()
                .find(|record| record.root_fields == [field])
                .cloned()
        };
        of("Query.things")
            .zip(of("Mutation.add_thing"))
            .ok_or_else(|| format!("{all:#?}"))
    })
    .await;
    let (things, add) = found;
    assert!(things.calls >= 6, "{things:?}");
    assert!(
        things.rows_returned >= 18 && things.query_preview.contains("v_thing"),
        "{things:?}"
    );
    assert!(things.query_preview.chars().count() <= 200, "{things:?}");
    assert!(
        things.min_exec_time_ms <= things.mean_exec_time_ms,
        "{things:?}"
    );
    assert!(
        things.mean_exec_time_ms <= things.max_exec_time_ms,
        "{things:?}"
    );
    assert!((0.0..=1.0).contains(&things.cache_hit_ratio), "{things:?}");
    assert!(add.query_preview.contains("fn_add_thing"), "{add:?}");
    let calls = statistics
        .get_stats(3, "calls".parse().unwrap())
        .await
        .unwrap();
    assert!(
        calls.is_sorted_by(|one, next| one.calls >= next.calls) && calls.len() == 3,
        "{calls:#?}"
    );
    assert!(
        "name; DROP TABLE tb_thing"
            .parse::<QueryStatsOrder>()
            .is_err()
    );
}
