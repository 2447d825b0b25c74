//! Refusals of PostgreSQL by rules of its own: domains, partitions, row-level security, generated
//! columns and the like.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    body: String,
    amount: Option<i32>,
    region: String,
}

#[svc_type(sql_source = "v_tagged")]
struct Tagged {
    id: i32,
    tags: Option<Vec<i32>>,
    listed: Option<Vec<i32>>,
}

#[svc_type(sql_source = "v_generated")]
struct Generated {
    id: i32,
    a: i32,
    b: i32,
}

#[svc_type(sql_source = "v_owner")]
struct Owner {
    id: i32,
}

#[svc_input]
struct OwnerInput {
    id: i32,
}

#[svc_input]
struct ThingInput {
    id: Option<i32>,
    body: Option<String>,
    amount: Option<i32>,
    region: Option<String>,
    bytes: Option<String>,
    parent: Option<i32>,
    owner: Option<String>,
}

#[svc_input]
struct PutInput {
    id: i32,
    region: String,
    body: Option<String>,
    amount: Option<i32>,
}

#[svc_input]
struct GeneratedInput {
    a: i32,
    b: Option<i32>,
}

#[svc_input]
struct IdentityInput {
    id: i32,
    a: i32,
}

#[svc::query]
async fn things() -> Vec<Thing>;
#[svc::query]
async fn tagged() -> Vec<Tagged>;
#[svc::mutation(insert = "tb_thing")]
async fn add_thing(input: ThingInput) -> Thing;
#[svc::mutation(upsert = "tb_thing", conflict = ["id", "region"])]
async fn put_thing(input: PutInput) -> Thing;
#[svc::mutation(update = "tb_thing")]
async fn change_thing(id: i32, input: ThingInput) -> Thing;
#[svc::mutation(delete = "tb_thing")]
async fn delete_thing(id: i32) -> Thing;
#[svc::mutation(insert = "tb_generated")]
async fn add_generated(input: GeneratedInput) -> Generated;
#[svc::mutation(insert = "tb_generated")]
async fn add_identity(input: IdentityInput) -> Generated;
#[svc::mutation(function = "takes")]
async fn takes(amount: Option<i32>, id: Option<String>, word: Option<String>) -> String;
#[svc::mutation(function = "summed")]
async fn summed(numbers: Vec<i32>) -> i32;
#[svc::mutation(function = "strict")]
async fn strict(id: i32) -> i32;
#[svc::query]
async fn owners() -> Vec<Owner>;
#[svc::mutation(update = "tb_owner")]
async fn change_owner(id: i32, input: OwnerInput) -> Owner;
#[svc::mutation(delete = "tb_owner")]
async fn delete_owner(id: i32) -> Owner;

const SQL: &str = "
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE DOMAIN word AS text NOT NULL;
    CREATE DOMAIN numbers AS int[];
    CREATE TABLE tb_parent (id int PRIMARY KEY);
    CREATE TABLE tb_thing (
        id int NOT NULL DEFAULT 1, body text NOT NULL, amount positive, region text NOT NULL DEFAULT 'de', bytes bytea,
        parent int REFERENCES tb_parent, owner text NOT NULL DEFAULT 'me', PRIMARY KEY (id, region)
    ) PARTITION BY LIST (region);
    CREATE TABLE tb_thing_de PARTITION OF tb_thing FOR VALUES IN ('de');
    CREATE TABLE tb_thing_us PARTITION OF tb_thing FOR VALUES IN ('us');
    CREATE VIEW v_thing WITH (security_invoker) AS SELECT id, body, amount, region FROM tb_thing;
    INSERT INTO tb_thing (id, body) VALUES (7, 'there');
    ALTER TABLE tb_thing ENABLE ROW LEVEL SECURITY;
    ALTER TABLE tb_thing FORCE ROW LEVEL SECURITY;
    CREATE POLICY reads ON tb_thing USING (true) WITH CHECK (owner = 'me');
    DO $$ BEGIN
        CREATE ROLE refused_app LOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
    CREATE TABLE tb_tagged (id int PRIMARY KEY, tags positive[], listed numbers);
    INSERT INTO tb_tagged VALUES (1, '{1,2}', '{1,-2}'), (2, NULL, NULL);
    CREATE VIEW v_tagged AS SELECT * FROM tb_tagged;
    CREATE TABLE tb_generated (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int, b int GENERATED ALWAYS AS (a * 2) STORED);
    CREATE VIEW v_generated AS SELECT * FROM tb_generated;
    CREATE FUNCTION takes(amount positive, id uuid, word word DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'taken'; END $$;
    CREATE FUNCTION summed(VARIADIC numbers int[]) RETURNS int LANGUAGE sql AS
        $$ SELECT sum(n)::int FROM unnest(numbers) AS n $$;
    CREATE FUNCTION strict(wanted int) RETURNS int LANGUAGE plpgsql AS $$
        DECLARE found int; BEGIN SELECT id INTO STRICT found FROM tb_tagged WHERE id = wanted; RETURN found; END $$;
    GRANT ALL ON ALL TABLES IN SCHEMA public TO refused_app;
    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO refused_app;";

async fn serve() -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    let url = database
        .url()
        .replace("postgres://postgres@", "postgres://refused_app@");
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(url)
        .queries(queries![things, tagged]);
    let options = options.mutations(mutations![
        add_thing,
        put_thing,
        change_thing,
        delete_thing,
        add_generated,
        takes,
        summed,
        strict
    ]);
    (App::serve(options).await, database)
}

fn assert_refused(reply: &Reply, document: &str, code: &str, status: &Value) {
    assert_eq!(reply.code(), code, "{document}: {}", reply.text);
    assert_eq!(
        &reply.json()["errors"][0]["extensions"]["status"],
        status,
        "{document}: {}",
        reply.text
    );
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE",
        "{document}: {}",
        reply.text
    );
    for name in [
        "tb_",
        "positive",
        "policy",
        "_check",
        "_key",
        "_pkey",
        "_fkey",
        "partition",
    ] {
        assert!(
            !reply.message().contains(name),
            "{document} names {name}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn rows_refused_by_the_database_are_client_errors() {
    let (app, _database) = serve().await;
    for (document, code, status) in [
        (
            "addThing(input: {body: \"a\", amount: -5}) { id }",
            "BAD_USER_INPUT",
            "validation:not_allowed",
        ),
        (
            "addThing(input: {body: \"a\", region: \"xx\"}) { id }",
            "BAD_USER_INPUT",
            "validation:not_allowed",
        ),
        (
            "changeThing(id: 7, input: {region: \"xx\"}) { id }",
            "BAD_USER_INPUT",
            "validation:not_allowed",
        ),
        (
            "addThing(input: {amount: 5}) { id }",
            "BAD_USER_INPUT",
            "validation:missing",
        ),
        (
            "putThing(input: {id: 7, region: \"de\", amount: 5}) { id }",
            "BAD_USER_INPUT",
            "validation:missing",
        ),
        (
            "addThing(input: {body: \"a\", bytes: \"\\\\xzz\"}) { id }",
            "BAD_USER_INPUT",
            "validation:not_valid",
        ),
        (
            "addThing(input: {body: \"a\", parent: 9}) { id }",
            "CONFLICT",
            "conflict:reference",
        ),
        (
            "addThing(input: {id: 7, body: \"a\"}) { id }",
            "CONFLICT",
            "conflict:exists",
        ),
        (
            "addThing(input: {id: 8, body: \"a\", owner: \"you\"}) { id }",
            "FORBIDDEN",
            "forbidden:",
        ),
        (
            "changeThing(id: 7, input: {owner: \"you\"}) { id }",
            "FORBIDDEN",
            "forbidden:",
        ),
        ("strict(id: 99)", "NOT_FOUND", "not_found:"),
    ] {
        let document = format!("mutation {{ {document} }}");
        assert_refused(&app.query(&document).await, &document, code, &json!(status));
    }
    assert_eq!(
        app.query("{ things { id body } }").await.data(),
        json!({"things": [{"id": 7, "body": "there"}]})
    );
}

/// Rows that refer to an owner, each with another reason why they cannot follow it.
const REFERENCES: &str = "
    CREATE TABLE tb_owner (id int PRIMARY KEY);
    CREATE VIEW v_owner AS SELECT id FROM tb_owner;
    INSERT INTO tb_owner SELECT generate_series(0, 9);
    CREATE TABLE tb_needs (id int NOT NULL REFERENCES tb_owner ON DELETE SET NULL);
    INSERT INTO tb_needs VALUES (1);
    CREATE TABLE tb_checks (id int DEFAULT 0 CHECK (id > 0) REFERENCES tb_owner ON DELETE SET DEFAULT);
    INSERT INTO tb_checks VALUES (2);
    CREATE TABLE tb_unique (id int DEFAULT 0 UNIQUE REFERENCES tb_owner ON DELETE SET DEFAULT);
    INSERT INTO tb_unique VALUES (0), (3);
    CREATE TABLE tb_follows (id int CHECK (id < 100) REFERENCES tb_owner ON UPDATE CASCADE);
    INSERT INTO tb_follows VALUES (4);
    CREATE TABLE tb_middle (id int PRIMARY KEY REFERENCES tb_owner ON DELETE CASCADE);
    CREATE TABLE tb_last (id int REFERENCES tb_middle);
    INSERT INTO tb_middle VALUES (5);
    INSERT INTO tb_last VALUES (5);
    CREATE TABLE tb_parts (id int REFERENCES tb_owner ON DELETE SET NULL) PARTITION BY LIST (id);
    CREATE TABLE tb_parts_six PARTITION OF tb_parts FOR VALUES IN (6);
    INSERT INTO tb_parts VALUES (6);
    CREATE TABLE tb_raises (id int NOT NULL);
    CREATE FUNCTION raises() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF OLD.id = 7 THEN INSERT INTO tb_raises VALUES (NULL); END IF; RETURN OLD; END $$;
    CREATE TRIGGER raises BEFORE DELETE ON tb_owner FOR EACH ROW EXECUTE FUNCTION raises();";

/// The client has given no value that is null or not allowed.
#[tokio::test]
async fn references_that_forbid_a_change_are_a_conflict() {
    let database = TestDatabase::new(REFERENCES).await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url())
        .queries(queries![owners])
        .mutations(mutations![change_owner, delete_owner]);
    let app = App::serve(options).await;
    for document in [
        "mutation { deleteOwner(id: 1) { id } }",
        "mutation { deleteOwner(id: 2) { id } }",
        "mutation { deleteOwner(id: 3) { id } }",
        "mutation { changeOwner(id: 4, input: {id: 100}) { id } }",
        "mutation { deleteOwner(id: 5) { id } }",
        "mutation { deleteOwner(id: 6) { id } }",
    ] {
        let status = json!("conflict:reference");
        assert_refused(&app.query(document).await, document, "CONFLICT", &status);
    }

    let raised = app.query("mutation { deleteOwner(id: 7) { id } }").await;
    assert_eq!(raised.code(), "INTERNAL_SERVER_ERROR", "{}", raised.text);

    for document in [
        "mutation { changeOwner(id: 4, input: {id: 99}) { id } }",
        "mutation { deleteOwner(id: 8) { id } }",
    ] {
        app.query(document).await.data();
    }
}

#[tokio::test]
async fn arguments_refused_by_their_parameter_are_client_errors() {
    let (app, _database) = serve().await;
    let id = "id: \"6f9619ff-8b86-d011-b42d-00c04fc964ff\"";
    assert_eq!(
        app.query(&format!(
            "mutation {{ takes(amount: 1, {id}, word: \"a\") }}"
        ))
        .await
        .data(),
        json!({"takes": "taken"})
    );
    for arguments in [
        format!("amount: -5, {id}"),
        "amount: 1, id: \"no uuid\"".to_owned(),
        format!("amount: 1, {id}, word: null"),
    ] {
        let document = format!("mutation {{ takes({arguments}) }}");
        assert_refused(
            &app.query(&document).await,
            &document,
            "BAD_USER_INPUT",
            &Value::Null,
        );
    }
}

#[tokio::test]
async fn variadic_functions_take_a_list() {
    let (app, _database) = serve().await;
    assert_eq!(
        app.query("mutation { summed(numbers: [1, 2, 3]) }")
            .await
            .data(),
        json!({"summed": 6})
    );
    assert_eq!(
        app.query("mutation { summed(numbers: [4]) }").await.data(),
        json!({"summed": 4})
    );
}

/// The values of a filter need not be ones that the domain of a column's elements takes.
#[tokio::test]
async fn arrays_of_domains_and_domains_over_arrays_are_filtered() {
    let (app, _database) = serve().await;
    for (filter, expected) in [
        ("tags: {contains: [-1]}", json!([])),
        (
            "tags: {contains: [1]}",
            json!([{"id": 1, "tags": [1, 2], "listed": [1, -2]}]),
        ),
        (
            "tags: {overlaps: [2, -3]}",
            json!([{"id": 1, "tags": [1, 2], "listed": [1, -2]}]),
        ),
        (
            "listed: {contains: [-2]}",
            json!([{"id": 1, "tags": [1, 2], "listed": [1, -2]}]),
        ),
        ("listed: {contains: [3]}", json!([])),
        (
            "listed: {isnull: true}",
            json!([{"id": 2, "tags": null, "listed": null}]),
        ),
    ] {
        let reply = app
            .query(&format!(
                "{{ tagged(where: {{{filter}}}) {{ id tags listed }} }}"
            ))
            .await;
        assert_eq!(reply.data()["tagged"], expected, "{filter}: {}", reply.text);
    }
}

/// A column that PostgreSQL computes is named at the start, and its value is the client's mistake.
#[tokio::test]
async fn computed_columns_take_no_value() {
    let (app, database) = serve().await;
    assert_eq!(
        app.query("mutation { addGenerated(input: {a: 1}) { a b } }")
            .await
            .data(),
        json!({"addGenerated": {"a": 1, "b": 2}})
    );
    let document = "mutation { addGenerated(input: {a: 1, b: 7}) { b } }";
    assert_refused(
        &app.query(document).await,
        document,
        "BAD_USER_INPUT",
        &json!("validation:computed"),
    );
    let ready = super::ready(&app, "the column `b` of `tb_generated` is generated").await;
    assert_eq!(ready.status, 200, "{}", ready.text);
    let details = ready.json()["details"]["schema"].to_string();
    assert!(
        details.contains("the column `b` of `tb_generated` is generated, and takes no value"),
        "{}",
        ready.text
    );
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url())
        .queries(queries![things]);
    let app = App::serve(options.mutations(mutations![add_identity])).await;
    app.query("{ things { id } }").await.data();
    let ready = super::ready(&app, "the column `id` of `tb_generated` is generated").await;
    let schema = ready.json()["checks"]["schema"].to_string();
    assert!(
        schema.contains("the column `id` of `tb_generated` is generated"),
        "each call fails: {}",
        ready.text
    );
}

/// A value of the request may not have the type that a policy reads.
#[tokio::test]
async fn a_malformed_session_variable_is_named_without_its_value() {
    let database = TestDatabase::new(
        "CREATE TABLE tb_thing (id int, body text, amount int, region text, tenant uuid);
         CREATE VIEW v_thing AS SELECT * FROM tb_thing WHERE tenant = current_setting('app.tenant', true)::uuid;
         CREATE FUNCTION strict(wanted int) RETURNS int LANGUAGE sql AS
             $$ SELECT count(*)::int FROM tb_thing WHERE tenant = current_setting('app.tenant', true)::uuid $$;
         INSERT INTO tb_thing VALUES (1, 'a', 1, 'b', '6f9619ff-8b86-d011-b42d-00c04fc964ff');",
    )
    .await;
    let variables = SessionVariables::new().header("app.tenant", "x-tenant");
    let options = AppOptions::new()
        .database_url(database.url())
        .session_variables(variables);
    let app = App::serve(
        options
            .queries(queries![things])
            .mutations(mutations![strict]),
    )
    .await;
    for query in ["{ things { id } }", "mutation { strict(id: 1) }"] {
        let send = async |tenant: &str| {
            let request = app
                .request("POST", "/graphql")
                .header("content-type", "application/json");
            app.send(
                request
                    .header("x-tenant", tenant)
                    .body(json!({ "query": query }).to_string()),
            )
            .await
        };
        let reply = send("no uuid").await;
        assert_eq!(reply.code(), "BAD_REQUEST", "{}", reply.text);
        assert!(
            reply.message().contains("`app.tenant`") && !reply.text.contains("no uuid"),
            "{}",
            reply.text
        );
        send("6f9619ff-8b86-d011-b42d-00c04fc964ff").await.data();
    }
}
