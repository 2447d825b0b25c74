//! Views and functions that change while they are read: never a wrong value, and right again within
//! a second.
//!
//! What is right is what a service says that is started after the change. Clients ask all the
//! while; each answer has to be right for the time in which it was given.

mod changes;
mod in_front;
mod lane;
mod long_reads;
mod schema;

use serde_json::json;
use svc_tests::{App, TestDatabase, cases, eventually};

use lane::Lane;

/// Each lane has a database and a service, and takes its share of the changes one after the other.
const LANES: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn answers_stay_correct_after_every_view_change() {
    let changes = changes::all();
    assert!(changes.len() >= 40, "{} changes", changes.len());
    let clients = cases("CHANGED_VIEWS_CLIENTS", 1, 2);
    let lanes = (0..LANES).map(|lane| {
        let changes: Vec<_> = changes.iter().skip(lane).step_by(LANES).cloned().collect();
        tokio::spawn(async move { Lane::start().await.run(&changes, clients).await })
    });
    let (mut faults, mut cells, mut with_data, mut steps, mut late) = (Vec::new(), 0, 0, 0, 0);
    for lane in lanes.collect::<Vec<_>>() {
        let report = lane.await.unwrap();
        faults.extend(report.faults);
        (cells, with_data) = (cells + report.cells, with_data + report.with_data);
        (steps, late) = (steps + report.steps, late + report.late);
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(
        with_data * 10 > cells * 7,
        "only {with_data} of {cells} cells have data"
    );
    // Where a process stands still some are late, but not most.
    assert!(
        late * 2 < steps,
        "after {late} of {steps} steps answers are not right within a second"
    );
}

/// Without polling, a statement that reveals a change still has it followed.
#[tokio::test(flavor = "multi_thread")]
async fn catalog_polling_can_be_switched_off() {
    let database = TestDatabase::new(schema::SQL).await.uncounted().await;
    let app = App::serve(schema::options(database.url(), 0)).await;
    let ask = async || {
        app.query("{ comments(limit: 1) { post { view_count } } }")
            .await
            .json()
    };
    let before = ask().await;
    assert!(before.get("errors").is_none(), "{before}");
    for change in [
        changes::retyped("view_count", "(p.view_count)::bigint"),
        "ALTER VIEW v_post RENAME COLUMN view_count TO views".to_owned(),
    ] {
        database.execute(&change).await;
        let seen = async || {
            if ask().await == before {
                Ok(())
            } else {
                Err(format!("without {change}"))
            }
        };
        eventually(seen).await;
    }
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND query LIKE '%pg_current_snapshot%' AND pid <> pg_backend_pid()";
    let pool = database.pool().await;
    eventually(async || {
        match svc::sqlx::query_scalar::<_, i64>(idle)
            .fetch_one(&pool)
            .await
            .unwrap()
        {
            0 => Ok(()),
            _ => Err("a connection that is kept".to_owned()),
        }
    })
    .await;
}

/// Also right after another change.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_read_after_a_view_change_is_correct() {
    let database = TestDatabase::new(schema::SQL).await.uncounted().await;
    let app = App::serve(schema::options(database.url(), 0)).await;
    let ask = async || app.query("{ posts { view_count } }").await.json();
    let before = ask().await;
    assert!(before.get("errors").is_none(), "{before}");
    for _ in 0..3 {
        for change in [
            changes::retyped("view_count", "(p.view_count)::bigint"),
            changes::base(),
        ] {
            database.execute(&change).await;
            assert_eq!(ask().await, before, "after {change}");
        }
    }
}

/// A field that failed because its column was missing or had another type.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_column_has_its_values() {
    let database = TestDatabase::new(schema::SQL).await.uncounted().await;
    for (change, field) in [
        (changes::without("view_count", true), "view_count"),
        (changes::bare("id", "true"), "id"),
        (changes::bare("title", "p.view_count"), "open"),
    ] {
        database.execute(&change).await;
        let app = App::serve(schema::options(database.url(), 100)).await;
        let ask = async || {
            app.query(&format!(
                "{{ posts(order_by: [{{price: ASC}}]) {{ {field} title }} }}"
            ))
            .await
        };
        if field != "open" {
            assert_eq!(ask().await.code(), "INTERNAL_SERVER_ERROR", "{field}");
        }
        database.execute(&changes::base()).await;
        let right = App::serve(schema::options(database.url(), 0)).await;
        let expected = right
            .query(&format!(
                "{{ posts(order_by: [{{price: ASC}}]) {{ {field} title }} }}"
            ))
            .await
            .data();
        let whole = json!({ "data": expected });
        let seen = async || {
            if ask().await.json() == whole {
                Ok(())
            } else {
                Err(format!("without {field}"))
            }
        };
        eventually(seen).await;
    }
}
