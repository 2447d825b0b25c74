//! Rows that are found by what is stored of the values that are given.

use serde_json::{Value, json};

use super::kinds::{KINDS, Kind};
use super::twins::{Policy, Twin, database};

fn kind(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap()
}

fn item(key: &str, body: &str) -> Value {
    json!({ "key": key, "owner": "bob", "body": body })
}

fn bodies(answer: &Value) -> Value {
    let body = |item: &Value| item["body"].clone();
    answer["data"]["answer"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .iter()
        .map(body)
        .collect()
}

/// `ABCD1234 ` is `ABCD1234` in a column of type `varchar(8)`.
#[tokio::test]
async fn an_upsert_takes_over_no_foreign_row_by_a_normalized_key() {
    let database = database().await;
    for (name, given) in [
        ("varchar", "ABCD1234 "),
        ("numeric", "1.001"),
        ("timestamptz", "2024-01-01T00:00:00.3Z"),
        ("time", "10:00:00.3"),
        ("domain_varchar", "ABCD "),
        ("lowered", " ADA@x.org"),
    ] {
        let kind = kind(name);
        let twin = Twin::new(&database, kind, Policy::Rows).await;
        for field in ["put", "keep"] {
            twin.hold(&[(kind.groups[0][0], "alice")]).await;
            let before = twin.stored("alice").await;
            let answer = twin.ask(field, &json!([item(given, "taken")])).await;
            assert_eq!(
                answer["errors"][0]["extensions"]["code"], "FORBIDDEN",
                "{name} {field}: {answer}"
            );
            assert_eq!(
                (twin.stored("alice").await, twin.stored("bob").await),
                (before, String::new()),
                "{name}"
            );

            twin.hold(&[(kind.groups[0][0], "bob")]).await;
            let answer = twin.ask(field, &json!([item(given, "changed")])).await;
            assert_eq!(
                bodies(&answer),
                json!([if field == "put" { "changed" } else { "own" }]),
                "{name} {field}"
            );
        }
    }
}

/// The key `a` is stored as `b`, and `b` as `c`.
#[tokio::test]
async fn a_key_changed_by_a_trigger_matches_as_it_is_stored() {
    let database = database().await;
    let twin = Twin::new(&database, kind("shifted"), Policy::Rows).await;
    for (field, written) in [("put", "new"), ("keep", "own")] {
        // Bob has the row with the given key, and Alice the one with the stored key.
        twin.hold(&[("a", "bob"), ("b", "alice")]).await;
        let before = (twin.stored("alice").await, twin.stored("bob").await);
        let answer = twin.ask(field, &json!([item("b", "new")])).await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "FORBIDDEN",
            "{field}: {answer}"
        );
        assert_eq!(
            (twin.stored("alice").await, twin.stored("bob").await),
            before,
            "{field}"
        );

        // The other way around.
        twin.hold(&[("a", "alice"), ("b", "bob")]).await;
        let alice = twin.stored("alice").await;
        let answer = twin.ask(field, &json!([item("b", "new")])).await;
        assert_eq!(bodies(&answer), json!([written]), "{field}");
        assert_eq!(answer["data"]["answer"][0]["key"], "c", "{field}");
        assert_eq!(twin.stored("alice").await, alice, "{field}");

        // There is no row with the stored key.
        twin.hold(&[("a", "alice")]).await;
        let answer = twin.ask(field, &json!([item("b", "new")])).await;
        assert_eq!(bodies(&answer), json!(["new"]), "{field}");
        assert_eq!(answer["data"]["answer"][0]["key"], "c", "{field}");
    }
}

/// The service cannot find out which row a changed key matches.
#[tokio::test]
async fn without_the_update_privilege_a_trigger_hides_the_kept_row() {
    let database = database().await;
    let role = format!("app_{}", database.name());
    database
        .execute(&format!(
            "REVOKE UPDATE ON open_shifted.tb_item FROM {role}"
        ))
        .await;
    let twin = Twin::new(&database, kind("shifted"), Policy::Rows).await;
    twin.hold(&[("a", "bob"), ("b", "alice")]).await;
    let answer = twin.ask("keep", &json!([item("b", "1")])).await;
    assert_eq!(
        answer["errors"][0]["extensions"]["status"], "conflict:unreadable",
        "{answer}"
    );
}

#[tokio::test]
async fn a_default_of_null_matches_the_row_with_null() {
    let database = database().await;
    let twin = Twin::new(&database, kind("nulls"), Policy::Rows).await;
    for (owner, put, keep) in [("alice", None, None), ("bob", Some("new"), Some("own"))] {
        for (field, expected) in [("put_default", put), ("keep_default", keep)] {
            twin.hold(&[("a", owner)]).await;
            let answer = twin.ask(field, &json!([item("a", "new")])).await;
            match expected {
                Some(body) => assert_eq!(bodies(&answer), json!([body]), "{field}"),
                None => assert_eq!(
                    answer["errors"][0]["extensions"]["code"], "FORBIDDEN",
                    "{field}: {answer}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn kept_rows_are_returned_in_the_order_of_the_items() {
    let database = database().await;
    let twin = Twin::new(&database, kind("varchar"), Policy::Rows).await;
    twin.hold(&[("ABCD1234", "bob"), ("x", "bob")]).await;
    let input = json!([
        item("n", "1"),
        item("ABCD1234 ", "2"),
        item("x", "3"),
        item("m", "4")
    ]);
    let answer = twin.ask("keep", &input).await;
    assert_eq!(bodies(&answer), json!(["1", "own", "own", "4"]));
}

#[tokio::test]
async fn a_row_dropped_by_a_trigger_is_a_conflict() {
    let database = database().await;
    for policy in [Policy::Rows, Policy::Database] {
        let twin = Twin::new(&database, kind("dropping"), policy).await;
        for field in ["put", "keep", "put_one"] {
            twin.hold(&[("a", "bob")]).await;
            let before = twin.stored("bob").await;
            let input = if field == "put_one" {
                item("drop", "1")
            } else {
                json!([item("b", "1"), item("drop", "2")])
            };
            let error = twin.ask(field, &input).await["errors"][0].clone();
            let told = (
                &error["message"],
                &error["extensions"]["code"],
                &error["extensions"]["status"],
            );
            let expected = json!([
                "the database did not take the change of `Item`",
                "CONFLICT",
                "conflict:not_taken"
            ]);
            assert_eq!(
                json!([told.0, told.1, told.2]),
                expected,
                "{policy:?} {field}"
            );
            assert_eq!(twin.stored("bob").await, before, "{policy:?} {field}");
        }
    }
}

/// A service that may add rows and not change any sees what it reads by the given value.
#[tokio::test]
async fn without_the_update_privilege_rows_match_the_given_value_only() {
    let database = database().await;
    let role = format!("app_{}", database.name());
    database
        .execute(&format!(
            "REVOKE UPDATE ON open_varchar.tb_item FROM {role}"
        ))
        .await;
    let twin = Twin::new(&database, kind("varchar"), Policy::Rows).await;
    twin.hold(&[("ABCD1234", "bob")]).await;
    assert_eq!(
        bodies(&twin.ask("keep", &json!([item("ABCD1234", "1")])).await),
        json!(["own"])
    );
    let answer = twin.ask("keep", &json!([item("ABCD1234 ", "1")])).await;
    assert_eq!(
        answer["errors"][0]["extensions"]["status"], "conflict:unreadable",
        "{answer}"
    );
}
