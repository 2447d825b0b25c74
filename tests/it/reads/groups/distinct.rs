//! `countDistinct`: how many different values there are.

use serde_json::json;

use super::app;

#[tokio::test]
async fn different_values_are_counted() {
    let (_database, app) = app().await;
    let answer = app
        .same(
            "",
            "{ countDistinct { id channel city pieces price weight soldOn soldAt paid shopId } }",
        )
        .await;
    let counts = json!({ "id": 6, "channel": 2, "city": 2, "pieces": 5, "price": 5, "weight": 4, "soldOn": 5, "soldAt": 6, "paid": 2, "shopId": 4 });
    assert_eq!(answer["countDistinct"], counts);
    let none = app
        .same("(where: {id: {gt: 100}})", "{ countDistinct { city } }")
        .await;
    assert_eq!(none["countDistinct"], json!({ "city": 0 }));
    let groups = app
        .same("", "{ groups(by: [CITY], orderBy: [{countDistinct: {channel: DESC}}, {countDistinct: {id: ASC}}]) { key { city } countDistinct { channel id } } }")
        .await;
    let group = |city: Option<&str>, channel: i32, id: i32| json!({ "key": { "city": city }, "countDistinct": { "channel": channel, "id": id } });
    assert_eq!(
        groups["groups"],
        json!([
            group(Some("Bonn"), 2, 3),
            group(None, 1, 1),
            group(Some("Ulm"), 1, 2)
        ])
    );
    let reply = app.query("{ columns { countDistinct { meta } } }").await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
}
