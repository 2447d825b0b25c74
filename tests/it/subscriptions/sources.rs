//! The trigger function `svc_notify`.

use serde_json::{Value, json};
use svc::sqlx::postgres::PgListener;
use svc_tests::TestDatabase;
use svc_tests::raw::PATIENCE;
use tokio::time::timeout;

/// The payloads on a channel after some SQL.
async fn heard(database: &TestDatabase, channel: &str, sql: &str, count: usize) -> Vec<Value> {
    let mut listener = PgListener::connect(&database.url()).await.unwrap();
    listener.listen(channel).await.unwrap();
    database.execute(sql).await;
    let mut payloads = Vec::new();
    for _ in 0..count {
        let heard = timeout(PATIENCE, listener.recv()).await;
        let heard = heard.expect("no payload in time").unwrap();
        payloads.push(serde_json::from_str(heard.payload()).unwrap());
    }
    payloads
}

#[tokio::test]
async fn payloads_have_the_columns_that_are_named() {
    let database = TestDatabase::new(&format!(
        "{} CREATE TABLE tb (pk int PRIMARY KEY, owner uuid, long text, other json);
         CREATE TRIGGER tb AFTER INSERT OR UPDATE OR DELETE ON tb
             FOR EACH ROW EXECUTE FUNCTION svc_notify('changed', 'id=pk', 'owner', 'long');",
        svc::events::SVC_NOTIFY
    ))
    .await;
    let owner = "00000000-0000-0000-0000-000000000001";
    let sql = format!(
        "INSERT INTO tb VALUES (1, '{owner}', 'a', '1'); UPDATE tb SET pk = pk; UPDATE tb SET long = 'b';
         UPDATE tb SET long = repeat('x', 9000); DELETE FROM tb"
    );
    let expected = [
        json!({"id": 1, "op": "insert", "owner": owner, "long": "a"}),
        json!({"id": 1, "op": "update", "owner": owner, "long": "b"}),
        json!({"id": 1, "op": "update"}),
        json!({"id": 1, "op": "delete"}),
    ];
    assert_eq!(heard(&database, "changed", &sql, 4).await, expected);
}
