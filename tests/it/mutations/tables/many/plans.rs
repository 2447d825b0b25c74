//! The plans of the read by the filter, and of the statements after it.

use serde_json::json;

use super::{ask, done, failure, serve, stored};

/// Shows the plan mode of reads as the owner, and stores that of updates as the shelf.
const MODES: &str = "
    CREATE OR REPLACE VIEW v_item WITH (security_invoker) AS
      SELECT pk_item AS id, current_setting('plan_cache_mode') AS owner, shelf, price, secret FROM app.tb_item
      WHERE NOT gone;
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.shelf := current_setting('plan_cache_mode'); RETURN NEW; END $$;
    CREATE TRIGGER note BEFORE UPDATE ON app.tb_item FOR EACH ROW EXECUTE FUNCTION note();";

#[tokio::test]
async fn a_range_is_planned_for_its_values_and_updates_are_not() {
    let (database, app) = serve().await;
    database.execute(MODES).await;

    // The first read finds more rows than are allowed.
    for filter in [
        r#"{ owner: { eq: "force_custom_plan" }, price: { gte: 0 } }"#,
        r#"{ owner: { eq: "auto" }, shelf: { in: ["a", "b"] } }"#,
    ] {
        let change = format!("changeFew(where: {filter}, input: {{ price: 5 }}) {{ id }}");
        let answer = ask(&app, "ada", &change).await;
        assert_eq!(
            failure(&answer).1,
            "validation:too_many_rows",
            "{filter}: {answer}"
        );
    }

    let change = "change(where: { price: { gte: 40 } }, input: { price: 5 }) { id }";
    assert_eq!(done(&app, change).await, json!([{ "id": 4 }, { "id": 5 }]));
    assert_eq!(
        stored(&database).await,
        "1 ada a 10; 2 bob a 20; 3 ada b 30; 4 ada auto 5; 5 bob auto 5"
    );
}
