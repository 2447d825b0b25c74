//! Mutations that write rows of several tables: what refers to what, what is replaced, and what is
//! refused.

mod inserts;
mod policies;
mod refusals;
mod replacements;

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
    let tables = "SELECT concat_ws(' | ', \
        (SELECT string_agg(o::text, ' ' ORDER BY id) FROM tb_order o), (SELECT string_agg(l::text, ' ' ORDER BY pk_line) FROM tb_line l), \
        (SELECT string_agg(e::text, ' ' ORDER BY id) FROM tb_extra e), (SELECT string_agg(i::text, ' ' ORDER BY id) FROM tb_invoice i), \
        (SELECT string_agg(c::text, ' ' ORDER BY id) FROM tb_customer c))";
    database.value(tables).await
}

const ALL: &str = "{ label customer lines invoices }";
