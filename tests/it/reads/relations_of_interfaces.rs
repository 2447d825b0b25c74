//! Rows are chosen and ordered by relations to interfaces, and by those that interfaces promise,
//! over the three kinds of views.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{Kinds, TestDatabase, three_views};

/// The same types over views of one kind.
macro_rules! archive {
    ($kind:ident, $user:literal, $note:literal, $task:literal, $entry:literal) => {
        mod $kind {
            use super::*;

            #[svc_type(name = $user, sql_source = $user)]
            pub(super) struct User {
                pub(super) id: i32,
                pub(super) name: String,
                pub(super) tags: Vec<String>,
                #[relation(to = "owner_id")]
                pub(super) entries: Many<Entry>,
                #[relation(from = "last_id")]
                pub(super) last: Option<One<Entry>>,
            }

            #[svc_interface(name = $entry, sql_source = $entry, fields(id: i32, title: String, owner: User))]
            pub(super) enum Entry {
                Note(Note),
                Task(Task),
            }

            #[svc_type(name = $note, sql_source = $note)]
            pub(super) struct Note {
                pub(super) id: i32,
                pub(super) title: String,
                #[relation]
                pub(super) owner: One<User>,
            }

            #[svc_type(name = $task, sql_source = $task)]
            pub(super) struct Task {
                pub(super) id: i32,
                pub(super) title: String,
                pub(super) done: bool,
                #[relation]
                pub(super) owner: One<User>,
            }

            #[svc::query]
            pub(super) async fn users(tags: Option<Vec<String>>) -> Vec<User>;
            #[svc::query]
            pub(super) async fn entries() -> Vec<Entry>;
        }
    };
}

archive!(columns, "c_user", "c_note", "c_task", "c_entry");
archive!(data, "d_user", "d_note", "d_task", "d_entry");
archive!(table, "tv_user", "tv_note", "tv_task", "tv_entry");

fn tables() -> String {
    let tables = "
        CREATE TABLE tb_user (id int PRIMARY KEY, name text NOT NULL, tags text[] NOT NULL, last_id int);
        CREATE TABLE tb_note (id int PRIMARY KEY, title text NOT NULL, owner_id int NOT NULL);
        CREATE TABLE tb_task (id int PRIMARY KEY, title text NOT NULL, owner_id int NOT NULL, done boolean NOT NULL);
        INSERT INTO tb_user VALUES (1, 'ada', '{x,y}', 12), (2, 'bo', '{y}', 11), (3, 'cy', '{}', NULL);
        INSERT INTO tb_note VALUES (10, 'sea', 1), (11, 'sky', 2);
        INSERT INTO tb_task VALUES (12, 'sow', 1, true), (13, 'sea', 2, false);";
    let entries = |kind: &str, name: &str| {
        let of = |member: &str| {
            format!(
                "SELECT '{kind}_{member}' AS __typename, id, owner_id, title, to_jsonb(t) AS data FROM tb_{member} t"
            )
        };
        format!(
            "CREATE VIEW {kind}_{name} AS {} UNION ALL {};",
            of("note"),
            of("task")
        )
    };
    let views = [
        ("user", "id"),
        ("note", "id, owner_id"),
        ("task", "id, owner_id"),
    ];
    let views = views
        .map(|(name, columns)| three_views(name, columns))
        .concat();
    format!(
        "{tables}{views}{}{}
         CREATE VIEW d_entry AS SELECT data || jsonb_build_object('__typename', __typename) AS data FROM
           (SELECT 'd_note' AS __typename, to_jsonb(t) AS data FROM tb_note t
            UNION ALL SELECT 'd_task', to_jsonb(t) FROM tb_task t) e;",
        entries("c", "entry"),
        entries("tv", "entry"),
    )
}

fn options(kind: &str) -> AppOptions {
    let options = AppOptions::new().auto_camel_case(true);
    match kind {
        "columns" => options.queries(queries![columns::users, columns::entries]),
        "data" => options.queries(queries![data::users, data::entries]),
        _ => options.queries(queries![table::users, table::entries]),
    }
}

/// The services of the three kinds, which must give the same answers.
async fn kinds() -> Kinds {
    let url = TestDatabase::shared("relations_of_interfaces", &tables()).await;
    Kinds::serve(|kind| options(kind).database_url(&url)).await
}

#[tokio::test]
async fn rows_are_filtered_by_a_relation_to_many_interface_rows() {
    let kinds = kinds().await;
    for (condition, found) in [
        (r#"some: {title: {eq: "sea"}}"#, vec![1, 2]),
        (r#"some: {title: {eq: "sow"}}"#, vec![1]),
        (r#"none: {title: {eq: "sow"}}"#, vec![2, 3]),
        (
            r#"every: {title: {startswith: "s"}, id: {in: [11, 13]}}"#,
            vec![2, 3],
        ),
        (
            r#"some: {owner: {name: {eq: "bo"}}, title: {eq: "sky"}}"#,
            vec![2],
        ),
        ("some: {}", vec![1, 2]),
    ] {
        let field = format!("users(where: {{entries: {{{condition}}}}}, orderBy: [{{id: ASC}}])");
        assert_eq!(kinds.ids(&field).await, found, "{condition}");
    }
}

#[tokio::test]
async fn rows_are_filtered_and_ordered_by_a_relation_to_one_interface_row() {
    let kinds = kinds().await;
    assert_eq!(
        kinds
            .ids(r#"users(where: {last: {title: {eq: "sow"}}})"#)
            .await,
        [1]
    );
    assert_eq!(
        kinds
            .ids(r#"users(where: {NOT: {last: {title: {eq: "sow"}}}}, orderBy: [{id: ASC}])"#)
            .await,
        [2, 3]
    );
    assert_eq!(
        kinds
            .ids("users(orderBy: [{last: {title: ASC}}, {id: ASC}])")
            .await,
        [2, 1, 3]
    );
    assert_eq!(
        kinds
            .ids("users(orderBy: [{last: {owner: {name: DESC_NULLS_LAST}}}])")
            .await,
        [2, 1, 3]
    );
}

#[tokio::test]
async fn interface_rows_are_filtered_and_ordered_by_a_declared_relation() {
    let kinds = kinds().await;
    assert_eq!(
        kinds
            .ids(r#"entries(where: {owner: {name: {eq: "bo"}}}, orderBy: [{id: ASC}])"#)
            .await,
        [11, 13]
    );
    assert_eq!(
        kinds
            .ids("entries(orderBy: [{owner: {name: DESC}}, {id: ASC}])")
            .await,
        [11, 13, 10, 12]
    );
    assert_eq!(
        kinds.ids(r#"entries(where: {owner: {entries: {some: {id: {eq: 12}}}}}, orderBy: [{id: ASC}])"#)
            .await,
        [10, 12]
    );
    let owners = kinds
        .same("{ entries(orderBy: [{id: ASC}], where: {id: {lte: 11}}) { owner { name } } }")
        .await;
    assert_eq!(
        owners,
        json!({"entries": [{"owner": {"name": "ada"}}, {"owner": {"name": "bo"}}]})
    );
}

#[tokio::test]
async fn a_list_argument_matches_rows_with_a_common_element() {
    let kinds = kinds().await;
    assert_eq!(kinds.ids(r#"users(tags: ["x", "z"])"#).await, [1]);
    assert_eq!(
        kinds
            .ids(r#"users(tags: ["y", "x"], orderBy: [{id: ASC}])"#)
            .await,
        [1, 2]
    );
    assert_eq!(kinds.ids("users(tags: [])").await, [] as [i64; 0]);
    assert_eq!(kinds.ids("users(orderBy: [{id: ASC}])").await, [1, 2, 3]);
}

#[svc_type(name = "Keeper", sql_source = "c_user")]
struct Keeper {
    id: i32,
}

#[svc_interface(sql_source = "c_entry", fields(id: i32, owner: Keeper))]
enum Kept {
    Loose(Loose),
    Fixed(Fixed),
}

#[svc_type(sql_source = "c_note")]
struct Loose {
    id: i32,
    #[relation]
    owner: One<Keeper>,
}

#[svc_type(sql_source = "c_task")]
struct Fixed {
    id: i32,
    #[relation(from = "keeper_id")]
    owner: One<Keeper>,
}

#[svc::query]
async fn kept() -> Vec<Kept>;

#[test]
fn an_interface_relation_by_different_keys_has_no_condition() {
    let sdl = AppOptions::new().queries(queries![kept]).sdl().unwrap();
    let conditions = sdl
        .split("input KeptWhere {")
        .nth(1)
        .and_then(|rest| rest.split('}').next())
        .unwrap();
    assert!(
        conditions.contains("id: IntFilter") && !conditions.contains("owner"),
        "{conditions}"
    );
}
