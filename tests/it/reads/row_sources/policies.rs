//! Row policies of the rows that are given.

use serde_json::json;
use svc::prelude::*;

use super::{columns, data, kinds_with, names, same, table};

#[tokio::test]
async fn row_policies_hold_for_rows_of_a_source() {
    let policies = |kind: &str, options: AppOptions| {
        let of_bonn = || RowDecision::allow_where(col("city_id").eq(2));
        match kind {
            "columns" => options.row_policy::<columns::Place>(move |_| Ok(of_bonn())),
            "data" => options.row_policy::<data::Place>(move |_| Ok(of_bonn())),
            _ => options.row_policy::<table::Place>(move |_| Ok(of_bonn())),
        }
    };
    let kinds = kinds_with(policies).await;
    let answer = same(
        &kinds,
        r#"{ nearby(at: 2, within: null, limit: 2) { name city { places { name } } } tagged(tags: ["beer"]) { name }
             nearest(at: 1) { name } sums(at: 2, within: null) { count } pages(at: 2, within: null) { totalCount nodes { name } } }"#,
    )
    .await;
    let city = json!({ "places": [{ "name": "bar" }, { "name": "spa" }, { "name": "zoo" }] });
    assert_eq!(
        answer["nearby"],
        json!([{ "name": "bar", "city": city }, { "name": "spa", "city": city }])
    );
    assert_eq!(names(&answer["tagged"]), ["zoo", "bar"]);
    assert_eq!(answer["nearest"], json!({ "name": "bar" }));
    assert_eq!(answer["sums"], json!({ "count": 3 }));
    assert_eq!(answer["pages"]["totalCount"], 3);
    assert_eq!(names(&answer["pages"]["nodes"]), ["bar", "spa", "zoo"]);
}
