//! Mutations that write rows of several tables: what refers to what, what is replaced, and what is
//! refused.

use serde_json::{Value, json};
use svc::Constraint;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_customer")]
struct Customer {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_line")]
struct Line {
    id: i32,
    sku: String,
    quantity: i32,
}

#[svc_type(sql_source = "v_extra")]
struct Extra {
    id: i32,
    name: String,
}

#[svc_type(sql_source = "v_invoice")]
struct Invoice {
    id: i32,
    number: String,
}

#[svc_input]
struct NewCustomer {
    name: String,
}

#[svc_input]
struct NewExtra {
    id: Option<i32>,
    name: Option<String>,
}

#[svc_input]
struct NewLine {
    id: Option<i32>,
    sku: Option<String>,
    quantity: Option<i32>,
    #[svc(rows = "tb_extra", column = "line_id", of = Extra)]
    extras: Option<Vec<NewExtra>>,
}

#[svc_input]
struct NewOrder {
    label: String,
    owner: Option<String>,
    customer_id: Option<i32>,
    #[svc(row = "tb_customer", column = "customer_id", of = Customer)]
    customer: Option<NewCustomer>,
    #[svc(rows = "tb_line", column = "fk_order", references = "pk_order", key = "pk_line", of = Line)]
    lines: Option<Vec<NewLine>>,
    #[svc(links = "tb_invoice", column = "fk_order", references = "pk_order", of = Invoice)]
    invoice_ids: Option<Vec<i32>>,
}

#[svc_input]
struct OrderPatch {
    label: Patch<String>,
    #[svc(row = "tb_customer", column = "customer_id", of = Customer)]
    customer: Option<NewCustomer>,
    #[svc(rows = "tb_line", column = "fk_order", references = "pk_order", key = "pk_line", of = Line)]
    lines: Option<Vec<NewLine>>,
    #[svc(links = "tb_invoice", column = "fk_order", references = "pk_order", of = Invoice)]
    invoice_ids: Option<Vec<i32>>,
}

#[svc::query]
async fn customers() -> Vec<Customer>;
#[svc::query]
async fn lines() -> Vec<Line>;
#[svc::query]
async fn extras() -> Vec<Extra>;
#[svc::query]
async fn invoices() -> Vec<Invoice>;

/// The same mutations, answered from views of one kind.
macro_rules! orders {
    ($kind:ident, $view:literal) => {
        mod $kind {
            use serde_json::Value;
            use svc::prelude::*;

            use super::{Line, NewOrder, OrderPatch, customers, extras, invoices, lines};

            #[svc_type(sql_source = $view, name = "Order")]
            pub(super) struct Order {
                id: i32,
                label: String,
                owner: String,
                customer: Option<String>,
                lines: Option<Value>,
                invoices: Option<Value>,
            }

            #[svc_result]
            pub(super) enum OrderResult {
                Success { order: Order },
                Error,
            }

            #[svc::mutation(insert = "tb_order")]
            async fn create(input: NewOrder) -> Order;
            #[svc::mutation(insert = "tb_order")]
            async fn create_all(input: Vec<NewOrder>) -> Vec<Order>;
            #[svc::mutation(insert = "tb_order")]
            async fn attempt(input: NewOrder) -> OrderResult;
            #[svc::mutation(update = "tb_order")]
            async fn change(id: i32, input: OrderPatch) -> Order;
            #[svc::mutation(upsert = "tb_order", conflict = "label")]
            async fn put(input: NewOrder) -> Order;
            #[svc::mutation(upsert = "tb_order", conflict = "label")]
            async fn put_all(input: Vec<NewOrder>) -> Vec<Order>;

            pub(super) fn options() -> AppOptions {
                AppOptions::new()
                    .queries(queries![customers, lines, extras, invoices])
                    .mutations(mutations![
                        create, create_all, attempt, change, put, put_all
                    ])
            }

            /// The same with policies: everybody has orders of their own, and sees lines that begin
            /// with their name.
            pub(super) fn governed() -> AppOptions {
                let user = |ctx: &Context<'_>| ctx.header("x-user").unwrap_or("nobody").to_owned();
                options()
                    .row_policy::<Order>(move |ctx| {
                        Ok(RowDecision::allow_where(col("owner").eq(user(ctx))))
                    })
                    .row_policy::<Line>(move |ctx| {
                        Ok(RowDecision::allow_where(col("sku").starts_with(user(ctx))))
                    })
                    .row_policy::<super::Invoice>(move |ctx| {
                        Ok(RowDecision::allow_where(
                            col("number").starts_with(user(ctx)),
                        ))
                    })
            }
        }
    };
}

orders!(columns, "c_order");
orders!(data, "d_order");
orders!(table, "tv_order");

const KINDS: [&str; 3] = ["columns", "data", "table"];

/// Orders are referred to by their `pk_order`, which is not their `id`.
pub(super) const SQL: &str = r#"
CREATE TABLE tb_customer (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE tb_order (
    pk_order int GENERATED BY DEFAULT AS IDENTITY (START 100) PRIMARY KEY, id int GENERATED BY DEFAULT AS IDENTITY UNIQUE,
    label text NOT NULL UNIQUE, owner text NOT NULL DEFAULT 'nobody', customer_id int REFERENCES tb_customer
);
CREATE TABLE tb_line (
    pk_line int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, fk_order int NOT NULL REFERENCES tb_order, sku text NOT NULL,
    quantity int NOT NULL DEFAULT 1 CONSTRAINT positive CHECK (quantity > 0)
);
CREATE TABLE tb_extra (
    id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, line_id int NOT NULL REFERENCES tb_line ON DELETE CASCADE,
    name text NOT NULL CONSTRAINT named CHECK (name <> 'bad')
);
CREATE TABLE tb_invoice (
    id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, number text NOT NULL, fk_order int REFERENCES tb_order
);
INSERT INTO tb_customer (name) VALUES ('Ada');
INSERT INTO tb_invoice (number) VALUES ('ada 1'), ('ada 2'), ('bob 3');
CREATE VIEW v_customer AS SELECT * FROM tb_customer;
CREATE VIEW v_line AS SELECT pk_line AS id, sku, quantity FROM tb_line;
CREATE VIEW v_extra AS SELECT id, name FROM tb_extra;
CREATE VIEW v_invoice AS SELECT id, number FROM tb_invoice;
CREATE VIEW c_order AS SELECT o.id, label, owner, c.name AS customer, (
        SELECT jsonb_agg(concat_ws(' ', pk_line, sku, quantity, (
            SELECT string_agg(e.id || '=' || e.name, ',' ORDER BY e.id) FROM tb_extra e WHERE line_id = pk_line
        )) ORDER BY pk_line) FROM tb_line WHERE fk_order = pk_order
    ) AS lines, (SELECT jsonb_agg(number ORDER BY id) FROM tb_invoice WHERE fk_order = pk_order) AS invoices
    FROM tb_order o LEFT JOIN tb_customer c ON c.id = customer_id;
CREATE VIEW d_order AS SELECT to_jsonb(o) AS data FROM c_order o;
CREATE TABLE tv_order (id int PRIMARY KEY, data jsonb);
CREATE FUNCTION project() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM tv_order;
    INSERT INTO tv_order SELECT id, to_jsonb(o) FROM c_order o;
    RETURN NULL;
END $$;
CREATE TRIGGER projected AFTER INSERT OR UPDATE OR DELETE ON tb_order EXECUTE FUNCTION project();
CREATE TRIGGER projected AFTER INSERT OR UPDATE OR DELETE ON tb_line EXECUTE FUNCTION project();
CREATE TRIGGER projected AFTER INSERT OR UPDATE OR DELETE ON tb_extra EXECUTE FUNCTION project();
CREATE TRIGGER projected AFTER INSERT OR UPDATE OR DELETE ON tb_invoice EXECUTE FUNCTION project();
"#;

async fn serve(kind: &str, is_governed: bool) -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("nested", SQL).await;
    let options = match (kind, is_governed) {
        ("columns", false) => columns::options(),
        ("data", false) => data::options(),
        (_, false) => table::options(),
        ("columns", true) => columns::governed(),
        ("data", true) => data::governed(),
        (_, true) => table::governed(),
    };
    let options = options
        .constraint(Constraint::new("positive", "at least one").field("quantity"))
        .constraint(Constraint::new("named", "take another name"))
        .constraint(Constraint::new("tb_line.sku", "a line needs a sku").field("sku"));
    let app = App::serve(options.database_url(database.url()).auto_camel_case(true)).await;
    (database, app)
}

async fn ask(app: &App, user: &str, mutation: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-user", user);
    let query = format!("mutation {{ answer: {mutation} }}");
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
        .json()
}

async fn done(app: &App, mutation: &str) -> Value {
    let answer = ask(app, "ada", mutation).await;
    assert_eq!(answer.get("errors"), None, "{mutation}: {answer}");
    answer["data"]["answer"].clone()
}

/// All tables as text.
async fn stored(database: &TestDatabase) -> String {
    let pool = database.pool().await;
    let tables = "SELECT concat_ws(' | ', \
        (SELECT string_agg(o::text, ' ' ORDER BY id) FROM tb_order o), (SELECT string_agg(l::text, ' ' ORDER BY pk_line) FROM tb_line l), \
        (SELECT string_agg(e::text, ' ' ORDER BY id) FROM tb_extra e), (SELECT string_agg(i::text, ' ' ORDER BY id) FROM tb_invoice i), \
        (SELECT string_agg(c::text, ' ' ORDER BY id) FROM tb_customer c))";
    let stored = sqlx::query_scalar(tables).fetch_one(&pool).await.unwrap();
    pool.close().await;
    stored
}

const ALL: &str = "{ label customer lines invoices }";

#[tokio::test]
async fn three_levels_are_inserted() {
    for kind in KINDS {
        let (_database, app) = serve(kind, false).await;
        let input = r#"{label: "a", customer: {name: "Bob"}, invoiceIds: [2, 1], lines: [
            {sku: "x", quantity: 3, extras: [{name: "red"}, {name: "wrapped"}]}, {sku: "y"}, {sku: "z", extras: [{name: "blue"}]}]}"#;
        let created = done(&app, &format!("create(input: {input}) {ALL}")).await;
        assert_eq!(
            created,
            json!({
                "label": "a", "customer": "Bob", "invoices": ["ada 1", "ada 2"],
                "lines": ["1 x 3 1=red,2=wrapped", "2 y 1", "3 z 1 3=blue"],
            }),
            "{kind}"
        );
        // An existing customer, and nothing else.
        let plain = done(
            &app,
            &format!(r#"create(input: {{label: "b", customerId: 1, lines: []}}) {ALL}"#),
        )
        .await;
        assert_eq!(
            plain,
            json!({"label": "b", "customer": "Ada", "lines": null, "invoices": null}),
            "{kind}"
        );
        let result = done(
            &app,
            r#"attempt(input: {label: "c", lines: [{sku: "w"}]}) { ... on OrderSuccess { status order { lines } } }"#,
        )
        .await;
        assert_eq!(
            result,
            json!({"status": "created", "order": {"lines": ["4 w 1"]}}),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn lists_of_lists_are_one_statement_for_each_level() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let order = |n: i32| {
            let line = |m: i32| {
                format!(
                    r#"{{sku: "s{n}{m}", extras: [{{name: "e{n}{m}a"}}, {{name: "e{n}{m}b"}}]}}"#
                )
            };
            let lines: Vec<_> = (0..n % 4).map(line).collect();
            format!(
                r#"{{label: "o{n}", customer: {{name: "c{n}"}}, lines: [{}]}}"#,
                lines.join(", ")
            )
        };
        let orders: Vec<_> = (1..=12).map(order).collect();
        let created = done(
            &app,
            &format!("createAll(input: [{}]) {ALL}", orders.join(", ")),
        )
        .await;
        for (n, order) in (1..=12).zip(created.as_array().unwrap()) {
            assert_eq!(
                (&order["label"], &order["customer"]),
                (&json!(format!("o{n}")), &json!(format!("c{n}"))),
                "{kind}"
            );
            let lines = order["lines"].as_array().map(Vec::len).unwrap_or_default();
            assert_eq!(lines, n % 4, "{kind}: {order}");
            for line in order["lines"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|line| line.as_str().unwrap())
            {
                let sku = line.split(' ').nth(1).unwrap();
                let extras = line
                    .split(' ')
                    .nth(3)
                    .unwrap()
                    .split(',')
                    .map(|extra| extra.split('=').nth(1).unwrap());
                let own = sku.trim_start_matches('s');
                assert_eq!(
                    extras.collect::<Vec<_>>(),
                    [format!("e{own}a"), format!("e{own}b")],
                    "{kind}: {order}"
                );
                assert!(sku.starts_with(&format!("s{n}")), "{kind}: {order}");
            }
        }
        for table in ["tb_customer", "tb_order", "tb_line", "tb_extra"] {
            assert_eq!(
                database
                    .statements(&format!("INSERT INTO \"{table}\""))
                    .await,
                1,
                "{kind} {table}"
            );
        }
    }
}

#[tokio::test]
async fn all_or_nothing_is_written_and_errors_name_the_place() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let before = stored(&database).await;
        let path = |answer: &Value| {
            answer["errors"][0]["extensions"]["errors"][0]["details"]["path"].clone()
        };
        for (input, expected, code) in [
            (
                r#"{label: "a", lines: [{sku: "x"}, {quantity: 2}]}"#,
                json!("input.lines[1].sku"),
                "BAD_USER_INPUT",
            ),
            (
                r#"{label: "a", lines: [{sku: "x", quantity: 0}]}"#,
                json!("input.lines[0]"),
                "BAD_USER_INPUT",
            ),
            (
                r#"{label: "a", lines: [{sku: "x", quantity: 0}, {sku: "y"}]}"#,
                json!("input.lines"),
                "BAD_USER_INPUT",
            ),
            (
                r#"{label: "a", lines: [{sku: "x"}, {sku: "y", extras: [{name: "bad"}]}]}"#,
                json!("input.lines[1].extras[0]"),
                "BAD_USER_INPUT",
            ),
        ] {
            let answer = ask(&app, "ada", &format!("create(input: {input}) {ALL}")).await;
            let extensions = &answer["errors"][0]["extensions"];
            assert_eq!(
                (&extensions["code"], &extensions["mutation"]),
                (&json!(code), &json!("NOT_DONE")),
                "{answer}"
            );
            assert_eq!(path(&answer), expected, "{kind}: {answer}");
            assert_eq!(stored(&database).await, before, "{kind}");
        }
        for (mutation, code, message) in [
            (
                r#"create(input: {label: "a", customerId: 1, customer: {name: "Eve"}})"#,
                "BAD_USER_INPUT",
                "`input`: give `customer` or `customerId`, not both",
            ),
            (
                r#"createAll(input: [{label: "a"}, {label: "b", invoiceIds: [1, 77]}])"#,
                "NOT_FOUND",
                "`input[1].invoiceIds[1]`: there is no such `Invoice`",
            ),
            (
                r#"createAll(input: [{label: "a", invoiceIds: [1]}, {label: "b", invoiceIds: [1]}])"#,
                "BAD_USER_INPUT",
                "`input[1].invoiceIds[0]`: the same `Invoice` is given before; give each once",
            ),
        ] {
            let answer = ask(&app, "ada", &format!("{mutation} {ALL}")).await;
            let error = &answer["errors"][0];
            assert_eq!(
                (&error["extensions"]["code"], &error["message"]),
                (&json!(code), &json!(message)),
                "{kind}: {answer}"
            );
            assert_eq!(stored(&database).await, before, "{kind}");
        }
    }
}

#[tokio::test]
async fn what_is_given_replaces_what_is_there() {
    for kind in KINDS {
        let (database, app) = serve(kind, false).await;
        let input = r#"{label: "a", invoiceIds: [1, 2], lines: [
            {sku: "x", quantity: 3, extras: [{name: "red"}, {name: "wrapped"}]}, {sku: "y"}, {sku: "z"}]}"#;
        done(&app, &format!("create(input: {input}) {{ id }}")).await;
        done(
            &app,
            r#"create(input: {label: "other", lines: [{sku: "o"}], invoiceIds: [3]}) { id }"#,
        )
        .await;
        let all = |lines: Value, invoices: Value| json!({"label": "a", "customer": null, "lines": lines, "invoices": invoices});
        // What is left out stays.
        let kept = done(&app, &format!("change(id: 1, input: {{}}) {ALL}")).await;
        let invoices = json!(["ada 1", "ada 2"]);
        assert_eq!(
            kept,
            all(
                json!(["1 x 3 1=red,2=wrapped", "2 y 1", "3 z 1"]),
                invoices.clone()
            ),
            "{kind}"
        );
        let lines = r#"[{id: 3, quantity: 5}, {sku: "n", extras: [{name: "new"}]}, {id: 1, extras: [{id: 2, name: "boxed"}, {name: "blue"}]}]"#;
        let changed = done(
            &app,
            &format!("change(id: 1, input: {{lines: {lines}, invoiceIds: [2]}}) {ALL}"),
        )
        .await;
        assert_eq!(
            (
                &changed["invoices"],
                changed["lines"].as_array().unwrap().len()
            ),
            (&json!(["ada 2"]), 3),
            "{kind}: {changed}"
        );
        let text = changed["lines"].to_string();
        for part in ["1 x 3 2=boxed,", "=blue", "3 z 5", " n 1 ", "=new"] {
            assert!(text.contains(part), "{kind}: no {part} in {text}");
        }
        // Each statement once, whatever the number of rows.
        for (statement, number) in [
            ("DELETE FROM \"tb_line\"", 1),
            ("UPDATE \"tb_line\"", 1),
            ("DELETE FROM \"tb_extra\"", 1),
        ] {
            assert_eq!(
                database.statements(statement).await,
                number,
                "{kind} {statement}"
            );
        }
        let there = stored(&database).await;
        assert!(
            there.contains("(4,101,o,1)") && there.contains(r#"(3,"bob 3",101)"#),
            "{kind}: the other order keeps its own: {there}"
        );
        // A line of another order is not there.
        let answer = ask(
            &app,
            "ada",
            &format!("change(id: 1, input: {{lines: [{{id: 4, quantity: 9}}]}}) {ALL}"),
        )
        .await;
        assert_eq!(
            answer["errors"][0]["message"], "`input.lines[0]`: there is no such `Line`",
            "{kind}: {answer}"
        );
        let new = done(
            &app,
            &format!(
                r#"change(id: 1, input: {{label: "a", customer: {{name: "Bob"}}, lines: [], invoiceIds: []}}) {ALL}"#
            ),
        )
        .await;
        assert_eq!(
            new,
            json!({"label": "a", "customer": "Bob", "lines": null, "invoices": null}),
            "{kind}"
        );
        let answer = ask(&app, "ada", "change(id: 99, input: {lines: []}) { id }").await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
            "{kind}: {answer}"
        );
    }
}

#[tokio::test]
async fn upserts_replace_what_is_there() {
    for kind in KINDS {
        let (_database, app) = serve(kind, false).await;
        let put = async |lines: &str| {
            done(
                &app,
                &format!(r#"put(input: {{label: "a", lines: {lines}}}) {ALL}"#),
            )
            .await["lines"]
                .clone()
        };
        assert_eq!(
            put(r#"[{sku: "x"}, {sku: "y"}]"#).await,
            json!(["1 x 1", "2 y 1"]),
            "{kind}"
        );
        assert_eq!(
            put(r#"[{id: 2, sku: "z"}, {sku: "n"}]"#).await,
            json!(["2 z 1", "3 n 1"]),
            "{kind}"
        );
        let both =
            r#"[{label: "b", lines: [{sku: "b"}]}, {label: "a", lines: [{id: 3, quantity: 7}]}]"#;
        let all = done(&app, &format!("putAll(input: {both}) {{ label lines }}")).await;
        assert_eq!(
            all,
            json!([{"label": "b", "lines": ["4 b 1"]}, {"label": "a", "lines": ["3 n 7"]}]),
            "{kind}"
        );
    }
}

/// Policies of the types that the fields name hold for what is written, and what they hide is not
/// there.
#[tokio::test]
async fn policies_bind_rows_of_other_tables() {
    for kind in KINDS {
        let (database, app) = serve(kind, true).await;
        let created = done(
            &app,
            r#"create(input: {label: "a", owner: "ada", lines: [{sku: "ada 1"}, {sku: "ada 2"}]}) { lines }"#,
        )
        .await;
        assert_eq!(
            created,
            json!({"lines": ["1 ada 1 1", "2 ada 2 1"]}),
            "{kind}"
        );
        // A line that only Bob sees.
        database
            .execute("INSERT INTO tb_line (fk_order, sku) VALUES (100, 'bob 3')")
            .await;
        let before = stored(&database).await;
        for (code, mutation) in [
            (
                "FORBIDDEN",
                r#"create(input: {label: "b", owner: "ada", lines: [{sku: "ada"}, {sku: "bob"}]}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"create(input: {label: "b", owner: "bob", lines: [{sku: "ada"}]}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"createAll(input: [{label: "b", owner: "ada"}, {label: "c", owner: "ada", lines: [{sku: "eve"}]}]) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"change(id: 1, input: {lines: [{id: 1, sku: "bob"}]}) { id }"#,
            ),
            (
                "FORBIDDEN",
                r#"put(input: {label: "a", owner: "ada", lines: [{sku: "bob"}]}) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"change(id: 1, input: {lines: [{id: 3, quantity: 2}]}) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"change(id: 1, input: {invoiceIds: [3]}) { id }"#,
            ),
            (
                "NOT_FOUND",
                r#"create(input: {label: "b", owner: "ada", invoiceIds: [3]}) { id }"#,
            ),
        ] {
            let answer = ask(&app, "ada", mutation).await;
            let extensions = &answer["errors"][0]["extensions"];
            assert_eq!(
                (&extensions["code"], &extensions["mutation"]),
                (&json!(code), &json!("NOT_DONE")),
                "{kind} {mutation}: {answer}"
            );
            assert_eq!(stored(&database).await, before, "{kind} {mutation}");
        }
        let answer = ask(
            &app,
            "ada",
            r#"create(input: {label: "b", owner: "ada", lines: [{sku: "ada"}, {sku: "bob"}]}) { id }"#,
        )
        .await;
        let message = "`input.lines[1]`: the `Line` would become one that is not allowed";
        assert_eq!(answer["errors"][0]["message"], message, "{kind}");
        let answer = ask(&app, "bob", r#"change(id: 1, input: {lines: []}) { id }"#).await;
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "NOT_FOUND",
            "{kind}: {answer}"
        );
        // What Ada cannot see stays.
        done(
            &app,
            "change(id: 1, input: {lines: [], invoiceIds: [1]}) { id }",
        )
        .await;
        let there = stored(&database).await;
        assert!(
            there.contains(r#"| (3,100,"bob 3",1) | (1,"ada 1",100)"#),
            "{kind}: {there}"
        );
    }
}

#[tokio::test]
async fn rows_of_all_tables_count() {
    let database = TestDatabase::copy_of("nested", SQL).await;
    let config = SvcConfig {
        limits: svc::Limits {
            max_page: 5,
            default_page: 5,
            ..svc::Limits::default()
        },
        ..SvcConfig::default()
    };
    let app = App::serve(
        columns::options()
            .config(config)
            .database_url(database.url())
            .auto_camel_case(true),
    )
    .await;
    let line = r#"{sku: "x", extras: [{name: "e"}]}"#;
    done(
        &app,
        &format!(r#"create(input: {{label: "a", lines: [{line}, {line}]}}) {{ id }}"#),
    )
    .await;
    let answer = ask(
        &app,
        "ada",
        &format!(r#"create(input: {{label: "b", lines: [{line}, {line}], customer: {{name: "c"}}}}) {{ id }}"#),
    )
    .await;
    assert_eq!(
        answer["errors"][0]["message"], "6 rows are given, and at most 5 can be written at once",
        "{answer}"
    );
}
