//! Rows that policies hide are not there for writes, whatever they hold.

use serde_json::{Value, json};
use svc::Limits;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_order")]
struct Order {
    id: i32,
}

#[svc_type(sql_source = "v_line")]
struct Line {
    id: i32,
}

#[svc_type(sql_source = "v_product")]
struct Product {
    id: i32,
    name: Option<String>,
}

#[svc_input]
struct NewNote {
    text: String,
}

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
}

#[svc_input]
struct LineInput {
    id: Option<i32>,
    price: Option<i64>,
    #[svc(row = "tb_note", column = "note_id", of = Note)]
    note: Option<NewNote>,
}

#[svc_input]
struct OrderInput {
    #[svc(rows = "tb_line", column = "order_id", of = Line)]
    lines: Option<Vec<LineInput>>,
}

#[svc_input]
struct ProductInput {
    name: Option<String>,
}

#[svc_input]
struct SkuInput {
    sku: Option<String>,
}

#[svc_input]
struct NamedProduct {
    id: i32,
    tenant: String,
    sku: String,
    name: String,
}

#[svc::query]
async fn orders() -> Vec<Order>;
#[svc::mutation(update = "tb_order")]
async fn change(id: i32, input: OrderInput) -> Order;
#[svc::mutation(update = "tb_product")]
async fn set(sku: String, input: ProductInput) -> Product;
#[svc::mutation(delete = "tb_product")]
async fn remove(sku: String) -> Product;
#[svc::mutation(update = "tb_product")]
async fn set_named(name: String, input: SkuInput) -> Product;
#[svc::mutation(delete = "tb_product")]
async fn remove_named(name: String) -> Product;
#[svc::mutation(upsert = "tb_product", conflict = "name", on_conflict = nothing)]
async fn keep(input: NamedProduct) -> Product;

const SQL: &str = "
    CREATE TABLE tb_order (id int PRIMARY KEY);
    CREATE TABLE tb_note (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text CHECK (text <> 'bad'));
    CREATE TABLE tb_line (id int PRIMARY KEY, order_id int NOT NULL, owner text NOT NULL, cost int NOT NULL,
      price int NOT NULL CHECK (price >= cost), note_id int);
    CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.price = 7 THEN RAISE EXCEPTION 'it cost %', OLD.cost; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER told BEFORE UPDATE ON tb_line FOR EACH ROW EXECUTE FUNCTION told();
    CREATE TABLE tb_product (id int PRIMARY KEY, tenant text NOT NULL, sku text NOT NULL, name text NOT NULL,
      UNIQUE (tenant, sku));
    INSERT INTO tb_order VALUES (1);
    INSERT INTO tb_line VALUES (1, 1, 'ada', 1, 10, NULL), (2, 1, 'bob', 1, 10, NULL), (3, 1, 'bob', 9, 10, NULL);
    INSERT INTO tb_product VALUES (1, 'ada', 'A', 'a'), (2, 'bob', 'A', 'b'), (3, 'bob', 'B', 'b'), (4, 'eve', 'B', 'e'),
      (5, 'bob', 'C', 'b');
    CREATE VIEW v_order AS SELECT * FROM tb_order;
    CREATE VIEW v_note AS SELECT * FROM tb_note;
    CREATE VIEW v_line AS SELECT * FROM tb_line;
    CREATE VIEW v_product AS SELECT * FROM tb_product;";

fn options(database: &TestDatabase) -> AppOptions {
    let user = |ctx: &Context<'_>| ctx.header("x-user").unwrap_or("nobody").to_owned();
    AppOptions::new()
        .database_url(database.url())
        .queries(queries![orders])
        .types(types![Line, Note])
        .mutations(mutations![
            change,
            set,
            remove,
            set_named,
            remove_named,
            keep
        ])
        .row_policy::<Line>(move |ctx| Ok(RowDecision::allow_where(col("owner").eq(user(ctx)))))
        .row_policy::<Product>(move |ctx| Ok(RowDecision::allow_where(col("tenant").eq(user(ctx)))))
}

async fn serve() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("hidden_rows", SQL).await;
    let app = App::serve(options(&database)).await;
    (database, app)
}

async fn ask(app: &App, mutation: &str) -> Value {
    let request = app.request("POST", "/graphql").header("x-user", "ada");
    app.send(request.json(&json!({ "query": format!("mutation {{ answer: {mutation} }}") })))
        .await
        .json()
}

/// Lines 2 and 3 are Bob's, and there is no line 4.
#[tokio::test]
async fn constraints_and_triggers_reveal_nothing_of_hidden_rows() {
    let (_database, app) = serve().await;
    for line in [
        "price: 5",
        "price: 7",
        "price: 99999999999",
        r#"price: 5, note: { text: "bad" }"#,
        r#"note: { text: "good" }"#,
    ] {
        for id in [2, 3, 4] {
            let answer = ask(
                &app,
                &format!("change(id: 1, input: {{ lines: [{{ id: {id}, {line} }}] }}) {{ id }}"),
            )
            .await;
            assert_eq!(
                answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
                "{line}, {id}: {answer}"
            );
            let message = "`input.lines[0]`: there is no such `Line`";
            assert_eq!(answer["errors"][0]["message"], message, "{line}, {id}");
        }
    }
    let answer = ask(
        &app,
        "change(id: 1, input: { lines: [{ id: 1, price: 0 }] }) { id }",
    )
    .await;
    assert_ne!(
        answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
        "{answer}"
    );
    let answer = ask(
        &app,
        "change(id: 1, input: { lines: [{ id: 1, price: 5 }] }) { id }",
    )
    .await;
    assert_eq!(answer, json!({ "data": { "answer": { "id": 1 } } }));
}

/// One's own row is written whatever others have, and what only others have is not there, be it one
/// row or several.
#[tokio::test]
async fn arguments_select_no_rows_of_other_users() {
    let (database, app) = serve().await;
    let answer = ask(&app, r#"set(sku: "A", input: { name: "new" }) { id name }"#).await;
    assert_eq!(
        answer,
        json!({ "data": { "answer": { "id": 1, "name": "new" } } })
    );
    let answer = ask(&app, r#"set(sku: "A", input: {}) { id name }"#).await;
    assert_eq!(
        answer,
        json!({ "data": { "answer": { "id": 1, "name": "new" } } })
    );
    let mut missing = Vec::new();
    for mutation in [
        r#"set(sku: "S", input: { name: "new" }) { id }"#,
        r#"remove(sku: "S") { id }"#,
    ] {
        for sku in ["B", "C", "D"] {
            missing.push(ask(&app, &mutation.replace('S', sku)).await);
        }
    }
    let expected = "there is no such `Product`";
    let is_missing = |answer: &&Value| {
        let error = &answer["errors"][0];
        error["message"] == expected && error["extensions"]["code"] == "NOT_FOUND"
    };
    assert!(
        missing.iter().all(|answer| is_missing(&answer)),
        "{missing:?}"
    );
    let answer = ask(&app, r#"remove(sku: "A") { name }"#).await;
    assert_eq!(answer, json!({ "data": { "answer": { "name": "new" } } }));
    let pool = database.pool().await;
    let left: String =
        sqlx::query_scalar("SELECT string_agg(id || name, ' ' ORDER BY id) FROM tb_product")
            .fetch_one(&pool)
            .await
            .unwrap();
    pool.close().await;
    assert_eq!(left, "2b 3b 4e 5b");
}

/// A masked value chooses no row: the names of the products that Ada sees are masked but for that
/// of C.
#[tokio::test]
async fn masked_values_select_no_rows() {
    let database = TestDatabase::copy_of("hidden_rows", SQL).await;
    let sql =
        "DELETE FROM tb_product WHERE tenant <> 'ada'; CREATE UNIQUE INDEX ON tb_product (name);
        INSERT INTO tb_product VALUES (6, 'ada', 'C', 'c'), (7, 'ada', 'D', 'd')";
    database.execute(sql).await;
    let masked = |_: &Context<'_>| Ok(RowDecision::allow_where(col("sku").eq("C")));
    let app = App::serve(options(&database).mask_where::<Product>("name", masked)).await;
    for name in ["a", "d", "nobody"] {
        for mutation in [
            format!("set_named(name: \"{name}\", input: {{}}) {{ id }}"),
            format!("set_named(name: \"{name}\", input: {{ sku: \"E\" }}) {{ id }}"),
            format!("remove_named(name: \"{name}\") {{ id }}"),
        ] {
            let answer = ask(&app, &mutation).await;
            assert_eq!(
                answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
                "{mutation}: {answer}"
            );
        }
    }
    let keep = |id: i32, name: &str| {
        format!(
            "keep(input: {{ id: {id}, tenant: \"ada\", sku: \"S{id}\", name: \"{name}\" }}) {{ id name }}"
        )
    };
    for (id, name) in [(8, "a"), (9, "d")] {
        let answer = ask(&app, &keep(id, name)).await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "FORBIDDEN",
            "{name}: {answer}"
        );
        assert!(!answer.to_string().contains("\"id\""), "{answer}");
    }
    let answer = ask(&app, &keep(10, "c")).await;
    assert_eq!(
        answer,
        json!({ "data": { "answer": { "id": 6, "name": "c" } } })
    );
    let answer = ask(
        &app,
        r#"set_named(name: "c", input: { sku: "C" }) { id name }"#,
    )
    .await;
    assert_eq!(
        answer,
        json!({ "data": { "answer": { "id": 6, "name": "c" } } })
    );
}

/// More rows may be there than one query gives.
#[tokio::test]
async fn many_rows_are_replaced_where_policies_hold() {
    let database = TestDatabase::copy_of("hidden_rows", SQL).await;
    let limits = Limits {
        max_page: 20,
        ..Limits::default()
    };
    let app = App::serve(options(&database).limits(limits)).await;
    database.execute("INSERT INTO tb_line SELECT n, 1, CASE n % 2 WHEN 0 THEN 'ada' ELSE 'bob' END, 1, 1 FROM generate_series(10, 109) n").await;
    let answer = ask(
        &app,
        "change(id: 1, input: { lines: [{ id: 100, price: 5 }] }) { id }",
    )
    .await;
    assert_eq!(answer, json!({ "data": { "answer": { "id": 1 } } }));
    let pool = database.pool().await;
    let left: (i64, i64) =
        sqlx::query_as("SELECT count(*) FILTER (WHERE owner = 'ada'), count(*) FROM tb_line")
            .fetch_one(&pool)
            .await
            .unwrap();
    pool.close().await;
    assert_eq!(left, (1, 53));
}
