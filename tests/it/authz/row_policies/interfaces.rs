//! Policies for interfaces and unions bind the rows of what belongs to them, and the other way
//! round.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_interface(fields(id: i32), sql_source = "v_entry")]
enum Entry {
    Note(Note),
    Task(Task),
}

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    body: String,
}

#[svc_type(sql_source = "v_task")]
struct Task {
    id: i32,
    done: bool,
}

#[svc::query]
async fn entries() -> Vec<Entry>;
#[svc::query]
async fn notes() -> Vec<Note>;
#[svc::query]
async fn tasks() -> Vec<Task>;
#[svc::query]
async fn count(ctx: &Context<'_>) -> Result<i64> {
    ctx.db().find::<Entry>().count().await
}

const SQL: &str = "
CREATE TABLE tb_note (id int PRIMARY KEY, owner text NOT NULL, body text NOT NULL);
CREATE TABLE tb_task (id int PRIMARY KEY, owner text NOT NULL, done boolean NOT NULL);
INSERT INTO tb_note VALUES (1, 'ada', 'one'), (2, 'bo', 'two');
INSERT INTO tb_task VALUES (3, 'ada', true), (4, 'bo', true), (5, 'ada', false);
CREATE VIEW v_note AS SELECT * FROM tb_note;
CREATE VIEW v_task AS SELECT * FROM tb_task;
CREATE VIEW v_entry AS
  SELECT 'Note' AS __typename, id, owner, to_jsonb(t) AS data FROM tb_note t
  UNION ALL SELECT 'Task', id, owner, to_jsonb(t) FROM tb_task t;
CREATE VIEW v_thing AS SELECT * FROM v_entry;";

const READ: &str =
    "{ entries(orderBy: [{id: ASC}]) { id ... on Note { body } ... on Task { done } } count
    notes(orderBy: [{id: ASC}]) { id } tasks(orderBy: [{id: ASC}]) { id } }";

/// The ids of entries, notes and tasks that are read.
async fn ids(govern: impl FnOnce(AppOptions) -> AppOptions) -> [Vec<i64>; 3] {
    let url = TestDatabase::shared("row_policies_of_interfaces", SQL).await;
    let options = AppOptions::new().database_url(url).auto_camel_case(true);
    let app = App::serve(govern(
        options.queries(queries![entries, notes, tasks, count]),
    ))
    .await;
    let data = app.query(READ).await.data();
    let ids = |field: &str| {
        let rows = data[field].as_array().unwrap();
        rows.iter()
            .map(|row| row["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(data["count"], json!(ids("entries").len()), "{data}");
    [ids("entries"), ids("notes"), ids("tasks")]
}

fn own(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(col("owner").eq("ada")))
}

#[tokio::test]
async fn a_policy_of_a_member_applies_to_its_interface() {
    let found = ids(|options| options.row_policy::<Note>(own)).await;
    assert_eq!(found, [vec![1, 3, 4, 5], vec![1], vec![3, 4, 5]]);
    let found = ids(|options| {
        options.row_policy::<Task>(|_| Ok(RowDecision::allow_where(col("done").eq(true))))
    })
    .await;
    assert_eq!(found, [vec![1, 2, 3, 4], vec![1, 2], vec![3, 4]]);
    let found = ids(|options| options.row_policy::<Note>(own).row_policy::<Task>(own)).await;
    assert_eq!(found, [vec![1, 3, 5], vec![1], vec![3, 5]]);
}

#[tokio::test]
async fn a_policy_of_an_interface_applies_to_its_members() {
    let found = ids(|options| options.row_policy::<Entry>(own)).await;
    assert_eq!(found, [vec![1, 3, 5], vec![1], vec![3, 5]]);
}

#[tokio::test]
async fn every_type_of_a_row_must_permit_it() {
    let undone = |_: &Context<'_>| Ok(RowDecision::allow_where(col("done").eq(false)));
    let found = ids(|options| options.row_policy::<Entry>(own).row_policy::<Task>(undone)).await;
    assert_eq!(found, [vec![1, 5], vec![1], vec![5]]);
    let done = |_: &Context<'_>| Ok(RowDecision::allow_where(col("done").eq(true)));
    let found = ids(|options| options.row_policy::<Entry>(own).row_policy::<Task>(done)).await;
    assert_eq!(found, [vec![1, 3], vec![1], vec![3]]);
    let nothing = |_: &Context<'_>| Ok(RowDecision::abstain());
    let found = ids(|options| options.row_policy::<Entry>(own).row_policy::<Note>(nothing)).await;
    assert_eq!(found, [vec![3, 5], vec![], vec![3, 5]]);
}

/// A row of three types: its own, an interface's and a union's.
#[tokio::test]
async fn all_three_types_of_a_row_must_permit_it() {
    #[svc_union(sql_source = "v_thing")]
    enum Thing {
        Note(Note),
        Task(Task),
    }
    #[svc::query]
    async fn things() -> Vec<Thing>;
    let found = ids(|options| {
        let options = options.queries(queries![things]).row_policy::<Entry>(own);
        let options =
            options.row_policy::<Thing>(|_| Ok(RowDecision::allow_where(col("id").gt(3))));
        options.row_policy::<Task>(|_| Ok(RowDecision::allow_where(col("id").lt(9))))
    });
    assert_eq!(found.await, [vec![5], vec![], vec![5]]);
}
