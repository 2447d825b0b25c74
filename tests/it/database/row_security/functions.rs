//! Functions behind views: those that run as the caller, and those that run as their owner.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{SQL, production, refusal, url, variables};

macro_rules! views {
    ($($view:literal $ty:ident $query:ident;)*) => {
        $(
            #[svc_type(sql_source = $view)]
            struct $ty {
                id: i32,
            }

            #[svc::query]
            async fn $query() -> Vec<$ty>;
        )*
    };
}

views! {
    "v_shown" Shown shown;
    "v_joined" Joined joined;
    "v_operator" Operator operators;
    "v_aggregate" Aggregated aggregates;
    "v_parsed" Parsed parsed;
}

const FUNCTIONS: &str = "
    CREATE FUNCTION shown() RETURNS SETOF tb_note LANGUAGE sql STABLE AS 'SELECT * FROM tb_note';
    CREATE VIEW v_shown AS SELECT id FROM shown();
    CREATE VIEW v_joined AS SELECT n.id FROM shown() JOIN tb_note n USING (id);

    CREATE FUNCTION is_note(int, int) RETURNS bool SECURITY DEFINER LANGUAGE sql AS
        'SELECT $1 = $2 AND EXISTS (SELECT FROM tb_note WHERE id = $1)';
    CREATE OPERATOR === (FUNCTION = is_note, LEFTARG = int, RIGHTARG = int);
    CREATE VIEW v_operator WITH (security_invoker = true) AS SELECT i AS id FROM generate_series(1, 3) i WHERE i === i;

    CREATE FUNCTION add_note(int, int) RETURNS int SECURITY DEFINER LANGUAGE sql AS
        'SELECT $1 + (SELECT count(*)::int FROM tb_note WHERE id = $2)';
    CREATE AGGREGATE count_notes(int) (SFUNC = add_note, STYPE = int, INITCOND = '0');
    CREATE VIEW v_aggregate WITH (security_invoker = true) AS SELECT count_notes(i) AS id FROM generate_series(1, 3) i;

    CREATE FUNCTION parsed() RETURNS SETOF int LANGUAGE sql BEGIN ATOMIC SELECT * FROM all_ids(); END;
    CREATE VIEW v_parsed WITH (security_invoker = true) AS SELECT parsed AS id FROM parsed();
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO r17_app, r17_bypass, r17_owner;";

async fn database() -> TestDatabase {
    TestDatabase::copy_of("row_security_functions", &format!("{SQL}{FUNCTIONS}")).await
}

/// The owner of the view is a superuser; the function in it runs as the service.
#[tokio::test]
async fn a_security_invoker_function_reads_as_the_service() {
    let database = database().await;
    assert_eq!(refusal(&database, "r17_app", queries![shown]).await, None);
    let options = production()
        .database_url(url(&database, "r17_app"))
        .session_variables(variables());
    let app = App::serve(options.queries(queries![shown])).await;
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-tenant", "a");
    let reply = app
        .send(request.body(json!({ "query": "{ shown { id } }" }).to_string()))
        .await;
    assert_eq!(reply.data(), json!({ "shown": [{ "id": 1 }] }));
    let passed = refusal(&database, "r17_bypass", queries![shown])
        .await
        .unwrap();
    assert!(
        passed.contains("`v_shown` reads `tb_note` as `r17_bypass`, as whom the service connects"),
        "{passed}"
    );
    let joined = refusal(&database, "r17_app", queries![joined])
        .await
        .unwrap();
    assert!(
        joined.contains("`v_joined` reads `tb_note` as `postgres`, who owns the view `v_joined`"),
        "{joined}"
    );
}

#[tokio::test]
async fn functions_behind_operators_aggregates_and_bodies_are_found() {
    let database = database().await;
    for (queries, what) in [
        (
            queries![operators],
            "`v_operator` calls `is_note(integer,integer)`, which runs as its owner `postgres`",
        ),
        (
            queries![aggregates],
            "`v_aggregate` calls `add_note(integer,integer)`, which runs as its owner `postgres`",
        ),
        (
            queries![parsed],
            "`v_parsed` calls `all_ids()`, which runs as its owner `postgres`",
        ),
    ] {
        let refusal = refusal(&database, "r17_app", queries).await.expect(what);
        assert!(refusal.contains(what), "{refusal}");
    }
}
