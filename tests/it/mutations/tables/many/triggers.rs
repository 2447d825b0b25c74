//! Triggers that leave out a row.

use serde_json::json;

use super::{BEFORE, ask, done, failure, serve, stored};

/// The rows of Bob are neither changed nor removed.
const REFUSING: &str = "
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF OLD.owner = 'bob' THEN RETURN NULL; END IF;
      RETURN coalesce(NEW, OLD); END $$;
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON app.tb_item FOR EACH ROW EXECUTE FUNCTION refuse();";

/// A removal marks the row.
const MARKING: &str = "
    CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE app.tb_item SET gone = true WHERE pk_item = OLD.pk_item; RETURN NULL; END $$;
    CREATE TRIGGER mark BEFORE DELETE ON app.tb_item FOR EACH ROW EXECUTE FUNCTION mark();";

/// An update changes the key.
const MOVING: &str = "
    CREATE FUNCTION shift_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.pk_item := 100 - OLD.pk_item; RETURN NEW; END $$;
    CREATE TRIGGER shift_key BEFORE UPDATE ON app.tb_item FOR EACH ROW EXECUTE FUNCTION shift_key();";

#[tokio::test]
async fn rows_whose_keys_a_trigger_changes_have_the_order_of_their_new_keys() {
    let (database, app) = serve().await;
    database.execute(MOVING).await;
    let change = r#"change(where: { shelf: { eq: "a" } }, input: { price: 5 }) { id owner }"#;
    assert_eq!(
        done(&app, change).await,
        json!([
            { "id": 96, "owner": "ada" },
            { "id": 98, "owner": "bob" },
            { "id": 99, "owner": "ada" },
        ])
    );
    assert_eq!(
        stored(&database).await,
        "3 ada b 30; 5 bob b 50; 96 ada a 5; 98 bob a 5; 99 ada a 5"
    );
}

#[tokio::test]
async fn a_row_that_a_trigger_skips_undoes_all() {
    let (database, app) = serve().await;
    database.execute(REFUSING).await;
    for mutation in [
        "change(where: {}, input: { price: 5 }) { id }",
        r#"change(where: { shelf: { eq: "a" } }, input: { price: 5 }) { id }"#,
        "remove(where: {}) { id }",
    ] {
        let answer = ask(&app, "ada", mutation).await;
        assert_eq!(
            failure(&answer),
            ("CONFLICT", "conflict:not_taken"),
            "{mutation}: {answer}"
        );
        assert_eq!(stored(&database).await, BEFORE, "{mutation}");
    }

    let own = r#"remove(where: { owner: { eq: "ada" } }) { id }"#;
    assert_eq!(
        done(&app, own).await,
        json!([{ "id": 1 }, { "id": 3 }, { "id": 4 }])
    );
}

#[tokio::test]
async fn rows_that_a_trigger_marks_are_deleted() {
    let (database, app) = serve().await;
    database.execute(MARKING).await;
    let remove = r#"remove(where: { shelf: { eq: "b" } }) { id }"#;
    assert_eq!(done(&app, remove).await, json!([{ "id": 3 }, { "id": 5 }]));
    assert_eq!(
        stored(&database).await,
        "1 ada a 10; 2 bob a 20; 3 ada b 30 t; 4 ada a 40; 5 bob b 50 t"
    );
}
