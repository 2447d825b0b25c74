//! Mutations that run into others: deadlocks, transactions that cannot be serialized, and locks.

use futures_util::future::join;
use serde_json::{Value, json};
use svc::db::{AssertSqlSafe, Transaction};
use svc::prelude::*;
use svc::{DatabaseConfig, Operation};
use svc_tests::{App, TestDatabase, eventually};

#[svc_type(sql_source = "v_account")]
struct Account {
    id: i32,
    balance: i32,
}

#[svc_input]
struct AccountPatch {
    balance: i32,
}

#[svc_result]
enum TransferResult {
    Success {
        account: Account,
    },
    Error {
        account: Option<Account>,
        retryable: Option<bool>,
    },
}

#[svc::query]
async fn accounts() -> Vec<Account>;
#[svc::mutation(function = "transfer")]
async fn transfer(first: i32, second: i32) -> i32;
#[svc::mutation(function = "transfer")]
async fn try_transfer(first: i32, second: i32) -> TransferResult;
#[svc::mutation(function = "add_slowly")]
async fn add(id: i32) -> i32;
#[svc::mutation(function = "take_now")]
async fn take_now(id: i32) -> i32;
#[svc::mutation(update = "tb_account")]
async fn set_balance(id: i32, input: AccountPatch) -> Account;

async fn step(tx: &mut Transaction, id: i32) -> Result<()> {
    tx.execute(
        "UPDATE tb_account SET balance = balance + 1 WHERE id = $1",
        [json!(id)],
    )
    .await?;
    Ok(())
}

#[svc::mutation]
async fn in_rust(ctx: &Context<'_>, first: i32, second: i32, retries: i32) -> Result<i32> {
    let mut runs = 0;
    let both = [first, second];
    let run = ctx
        .db()
        .transaction_with_retries(retries.unsigned_abs(), |tx| {
            runs += 1;
            let both = &both;
            Box::pin(async move {
                for id in both {
                    step(tx, *id).await?;
                    tx.execute("SELECT meet()", []).await?;
                }
                Ok(())
            })
        });
    run.await?;
    Ok(runs)
}

/// Keeps one transaction, and fails in the next.
#[svc::mutation]
async fn in_two(ctx: &Context<'_>, id: i32) -> Result<i32> {
    ctx.db()
        .transaction_with_retries(0, |tx| Box::pin(async move { step(tx, id).await }))
        .await?;
    ctx.db().call("take_now", [json!(1)]).await
}

#[svc::mutation]
async fn fails_itself(ctx: &Context<'_>) -> Result<i32> {
    let mut runs = 0;
    let run = ctx.db().transaction_with_retries(5, |tx| {
        runs += 1;
        let found = format!("run {runs}");
        Box::pin(async move {
            step(tx, 1).await?;
            Err::<(), _>(Error::new(ErrorCode::NotFound, found))
        })
    });
    run.await?;
    Ok(runs)
}

/// Each run is counted, whether it is kept or not. The first two that meet wait for each other, and
/// no later ones do: sequences show every transaction what the others have done.
const SQL: &str = "
CREATE SEQUENCE runs;
CREATE SEQUENCE meet;
CREATE FUNCTION meet() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('meet') <= 2 THEN
        FOR n IN 1..2000 LOOP
            EXIT WHEN (SELECT last_value FROM meet) >= 2;
            PERFORM pg_sleep(0.01);
        END LOOP;
    END IF;
END $$;
CREATE TABLE tb_account (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO tb_account VALUES (1, 0), (2, 0);
CREATE VIEW v_account AS SELECT id, balance FROM tb_account;
CREATE FUNCTION transfer(first int, second int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM nextval('runs');
    UPDATE tb_account SET balance = balance + 1 WHERE id = first;
    PERFORM meet();
    UPDATE tb_account SET balance = balance + 1 WHERE id = second;
    RETURN first;
END $$;
CREATE FUNCTION add_slowly(id int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM nextval('runs');
    PERFORM balance FROM tb_account a WHERE a.id = add_slowly.id;
    PERFORM meet();
    UPDATE tb_account a SET balance = balance + 1 WHERE a.id = add_slowly.id;
    RETURN add_slowly.id;
END $$;
CREATE FUNCTION take_now(id int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM FROM tb_account a WHERE a.id = take_now.id FOR UPDATE NOWAIT;
    RETURN take_now.id;
END $$;";

/// The same by the SQL of registered mutations.
const CROSSED_SQL: [&str; 2] = [
    "mutation Forth { transfer(first: 1, second: 2) }",
    "mutation Back { transfer(first: 2, second: 1) }",
];

fn registered() -> [Operation; 3] {
    let of = |first: i32, second: i32| {
        AssertSqlSafe(format!(
            "SELECT to_jsonb(transfer({first}, {second})) AS transfer"
        ))
    };
    [
        Operation::new(CROSSED_SQL[0]).sql(of(1, 2)),
        Operation::new(CROSSED_SQL[1]).sql(of(2, 1)),
        Operation::new("mutation Slowly { add(id: 1) }")
            .sql("SELECT to_jsonb(add_slowly(1)) AS add"),
    ]
}

async fn serve(retries: u32, isolation: &str) -> (TestDatabase, App) {
    let database = TestDatabase::new(SQL).await;
    let set = "ALTER DATABASE current_database() SET default_transaction_isolation";
    let name = database.name();
    database
        .execute(
            &set.replace("current_database()", name)
                .replace("isolation", &format!("isolation = '{isolation}'")),
        )
        .await;
    let config = DatabaseConfig {
        url: Some(database.url()),
        retries,
        ..DatabaseConfig::default()
    };
    let options = AppOptions::new().config(SvcConfig {
        database: config,
        ..SvcConfig::default()
    });
    let options = options
        .queries(queries![accounts])
        .operations(registered())
        .auto_camel_case(true);
    let mutations = mutations![
        transfer,
        try_transfer,
        add,
        take_now,
        set_balance,
        in_rust,
        in_two,
        fails_itself
    ];
    let app = App::serve(options.mutations(mutations)).await;
    (database, app)
}

/// Two mutations that meet.
async fn both(database: &TestDatabase, app: &App, mutations: [&str; 2]) -> [Value; 2] {
    database.execute("ALTER SEQUENCE meet RESTART").await;
    let [first, second] = mutations.map(|mutation| format!("mutation {{ answer: {mutation} }}"));
    let (first, second) = join(app.query(&first), app.query(&second)).await;
    [first.json(), second.json()]
}

async fn balances(app: &App) -> Value {
    app.query("{ accounts(orderBy: [{id: ASC}]) { balance } }")
        .await
        .data()["accounts"]
        .clone()
}

async fn runs(database: &TestDatabase) -> i64 {
    database.value("SELECT last_value FROM runs").await
}

/// The one answer of two that is an error.
fn failed(answers: &[Value; 2]) -> &Value {
    let failed: Vec<_> = answers
        .iter()
        .filter(|answer| answer.get("errors").is_some())
        .collect();
    assert_eq!(failed.len(), 1, "{answers:?}");
    &failed[0]["errors"][0]
}

fn is_conflict(error: &Value) {
    let extensions = &error["extensions"];
    assert_eq!(
        (
            &extensions["code"],
            &extensions["status"],
            &extensions["mutation"],
            &extensions["retryable"]
        ),
        (
            &json!("CONFLICT"),
            &json!("conflict:changed"),
            &json!("NOT_DONE"),
            &json!(true)
        ),
        "{error}"
    );
    assert!(
        error["message"].as_str().unwrap().ends_with("; try again"),
        "{error}"
    );
}

const CROSSED: [&str; 2] = [
    "transfer(first: 1, second: 2)",
    "transfer(first: 2, second: 1)",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_is_a_conflict() {
    let (database, app) = serve(0, "read committed").await;
    is_conflict(failed(&both(&database, &app, CROSSED).await));
    assert_eq!(
        balances(&app).await,
        json!([{"balance": 1}, {"balance": 1}])
    );
    let error = "{ ... on TransferError { code status retryable } }";
    let tried = CROSSED.map(|call| format!("tryT{} {error}", &call[1..]));
    let answers = both(&database, &app, [&tried[0], &tried[1]]).await;
    let conflict =
        json!({"data": {"answer": {"code": 409, "status": "conflict:changed", "retryable": true}}});
    assert!(answers.contains(&conflict), "{answers:?}");
    assert_eq!(
        balances(&app).await,
        json!([{"balance": 2}, {"balance": 2}])
    );
    assert_eq!(runs(&database).await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_run_again_where_a_setting_says_so() {
    let (database, app) = serve(5, "read committed").await;
    for answer in both(&database, &app, CROSSED).await {
        assert_eq!(answer.get("errors"), None, "{answer}");
    }
    assert_eq!(
        balances(&app).await,
        json!([{"balance": 2}, {"balance": 2}])
    );
    assert_eq!(runs(&database).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_that_cannot_be_serialized_are_conflicts_or_run_again() {
    for (retries, balance) in [(0, 1), (5, 2)] {
        let (database, app) = serve(retries, "serializable").await;
        let answers = both(&database, &app, ["add(id: 1)", "add(id: 1)"]).await;
        if retries == 0 {
            is_conflict(failed(&answers));
        }
        assert_eq!(
            balances(&app).await,
            json!([{"balance": balance}, {"balance": 0}]),
            "{answers:?}"
        );
        assert_eq!(runs(&database).await, 2 + i64::from(retries > 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sql_of_registered_mutations_is_run_again() {
    for (isolation, ids, retried) in [
        (
            "read committed",
            ["Forth", "Back"],
            json!([{"balance": 2}, {"balance": 2}]),
        ),
        (
            "serializable",
            ["Slowly", "Slowly"],
            json!([{"balance": 2}, {"balance": 0}]),
        ),
    ] {
        for retries in [0, 5] {
            let (database, app) = serve(retries, isolation).await;
            let [first, second] = ids.map(|id| json!({"documentId": id}));
            let (first, second) = join(app.post(&first), app.post(&second)).await;
            let answers = [first.json(), second.json()];
            if retries == 0 {
                is_conflict(failed(&answers));
            } else {
                assert_eq!(balances(&app).await, retried, "{answers:?}");
            }
            assert_eq!(
                runs(&database).await,
                2 + i64::from(retries > 0),
                "{answers:?}"
            );
        }
    }
}

/// Waits until a statement waits for a lock.
pub(super) async fn until_one_waits(pool: &sqlx::PgPool) {
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually(async || {
        match sqlx::query_scalar::<_, i64>(waits)
            .fetch_one(pool)
            .await
            .unwrap()
        {
            1 => Ok(()),
            count => Err(format!("{count} statements wait")),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_to_tables_are_run_again() {
    for retries in [0, 5] {
        let (database, app) = serve(retries, "repeatable read").await;
        let pool = database.pool().await;
        let mut other = pool.begin().await.unwrap();
        sqlx::query("UPDATE tb_account SET balance = 1 WHERE id = 1")
            .execute(&mut *other)
            .await
            .unwrap();
        // The update waits for the other transaction, which then has changed the row after the
        // snapshot of the update.
        let update = async {
            app.query("mutation { setBalance(id: 1, input: {balance: 7}) { balance } }")
                .await
        };
        let change = async {
            until_one_waits(&pool).await;
            other.commit().await.unwrap();
        };
        let (updated, ()) = join(update, change).await;
        pool.close().await;
        match retries {
            0 => is_conflict(&updated.json()["errors"][0]),
            _ => assert_eq!(
                updated.data(),
                json!({"setBalance": {"balance": 7}}),
                "{}",
                updated.text
            ),
        }
    }
}

/// A lock that was not waited for is reported at once, as `NOWAIT` asks for.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_a_conflict() {
    let (database, app) = serve(5, "read committed").await;
    let pool = database.pool().await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM tb_account WHERE id = 1 FOR UPDATE")
        .execute(&mut *holder)
        .await
        .unwrap();
    is_conflict(&app.query("mutation { takeNow(id: 1) }").await.json()["errors"][0]);
    // What a transaction before has done is not to be done again.
    let error = app.query("mutation { inTwo(id: 2) }").await.json()["errors"][0].clone();
    let extensions = &error["extensions"];
    assert_eq!(
        (&extensions["code"], &extensions["mutation"]),
        (&json!("NOT_READ"), &json!("DONE")),
        "{error}"
    );
    assert_eq!(extensions.get("retryable"), None, "{error}");
    drop(holder);
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_resolvers_are_run_again() {
    let (database, app) = serve(0, "read committed").await;
    let crossed = |retries: i32| {
        [(1, 2), (2, 1)].map(|(first, second)| {
            format!("inRust(first: {first}, second: {second}, retries: {retries})")
        })
    };
    let [first, second] = crossed(0);
    is_conflict(failed(&both(&database, &app, [&first, &second]).await));
    let [first, second] = crossed(5);
    let answers = both(&database, &app, [&first, &second]).await;
    let mut runs: Vec<_> = answers
        .iter()
        .map(|answer| answer["data"]["answer"].as_i64())
        .collect();
    runs.sort_unstable();
    assert_eq!(runs, [Some(1), Some(2)], "{answers:?}");
    assert_eq!(
        balances(&app).await,
        json!([{"balance": 3}, {"balance": 3}])
    );
    // An error of the program's own ends it.
    let reply = app.query("mutation { failsItself }").await;
    assert_eq!(
        (reply.code().as_str(), reply.message().as_str()),
        ("NOT_FOUND", "run 1"),
        "{}",
        reply.text
    );
    assert_eq!(
        balances(&app).await,
        json!([{"balance": 3}, {"balance": 3}])
    );
}
