//! `svc check`: types against a database, and against the file that stands for one.

use serde_json::Value;

use crate::support::Said;
use crate::templates::Project;

/// A program with types that disagree with their views, and a comment where each does.
const SEEDS: &str = include_str!("seeds.rs.txt");

const LIB: &str = "\
//! Types that disagree with their views.

pub mod seeds;

/// The options.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> svc::Result<svc::AppOptions> {
    Ok(seeds::add(svc::AppOptions::from_env()?))
}
";

#[test]
fn disagreements_are_found_with_and_without_a_database() {
    let project = Project::new("basic", "new_seeded");
    project.write("src/seeds.rs", SEEDS);
    project.write("src/lib.rs", LIB);
    project.write("db/schema/002_seeds.sql", include_str!("seeds.sql"));
    project.write("db/schema/003_shapes.sql", include_str!("shapes.sql"));
    let missing = project.svc(&["check", "--offline"]);
    let started = project.svc(&["db", "start"]);
    let online = project.svc(&["check"]);
    let written = project.svc(&["check", "--update"]);
    let snapshot = serde_json::from_str(&project.read("svc.schema.json")).expect("JSON");
    let places = places(&snapshot);
    let counts = project.svc(&["db", "psql", "-XAtc", &count(&places)]);
    project.svc(&["db", "stop"]).good();
    let offline = project.svc(&["check", "--offline"]);
    let neither = project.svc(&["check"]);

    started.good();
    assert!(
        missing
            .err
            .contains("hint: write it where the database is available: svc check --update"),
        "{}",
        missing.err
    );
    let found = findings(&online);
    assert_eq!(found.len(), SEEDS.matches("//~ ").count(), "{}", online.err);
    for (index, line) in SEEDS.lines().enumerate() {
        let place = format!("src/seeds.rs:{}: ", index + 1);
        let of_line: Vec<_> = found
            .iter()
            .filter(|finding| finding.starts_with(&place))
            .collect();
        match line.split_once("//~ ") {
            Some((_, words)) => {
                assert!(
                    matches!(of_line[..], [one] if one.contains(words)),
                    "{place}{words}: {of_line:?}"
                );
            }
            None => assert!(of_line.is_empty(), "{of_line:?}"),
        }
    }
    assert_eq!(online.code, Some(1));
    assert_eq!(
        (findings(&written), findings(&offline)),
        (found.clone(), found)
    );
    assert_eq!((offline.code, &offline.out), (Some(1), &online.out));
    assert!(
        neither
            .err
            .contains("hint: compare them with svc.schema.json: svc check --offline"),
        "{}",
        neither.err
    );
    nulls_are_known(&places, counts.good().trim());
}

/// A program of which only a start would say what is wrong.
const STARTED: &str = "\
//! Types that a start finds fault with.

use svc::prelude::*;

/// A kind.
#[svc_enum]
pub enum Kind {
    A,
}

/// Rows.
#[svc_type(sql_source = \"v_thing\")]
pub struct Thing {
    /// Key.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: Kind,
}

/// In an order that cannot be.
#[svc::query(order_by = \"-nam\")]
pub async fn things() -> Vec<Thing>;

/// Takes a number.
#[svc::mutation(function = \"fn_touch\")]
pub async fn touch(thing: Option<i32>) -> Thing;

/// Of a channel that nothing notifies.
#[svc::subscription(channel = \"thing_changed\")]
pub async fn changes() -> Thing;

/// The options.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> svc::Result<svc::AppOptions> {
    let options = svc::AppOptions::from_env()?.queries(queries![things]).mutations(mutations![touch]);
    Ok(options.subscriptions(subscriptions![changes]))
}
";

const STARTED_SQL: &str = "\
CREATE TYPE kind AS ENUM ('A', 'B');
CREATE TABLE tb_thing (id uuid PRIMARY KEY, name text NOT NULL, kind kind NOT NULL);
CREATE VIEW v_thing AS SELECT id, name, kind FROM tb_thing;
CREATE TYPE mutation_response AS (status text, message text);
CREATE FUNCTION fn_touch(thing uuid) RETURNS mutation_response LANGUAGE sql AS $$ SELECT 'updated', '' $$;
";

#[test]
fn a_check_finds_all_that_a_start_finds() {
    let project = Project::new("basic", "new_started");
    std::fs::remove_dir_all(project.folder().join("tests")).expect("the tests");
    std::fs::remove_dir_all(project.folder().join("db/schema")).expect("the schema");
    std::fs::remove_dir_all(project.folder().join("db/seeds")).expect("the seeds");
    project.write("src/lib.rs", STARTED);
    project.write("db/migrations/001_tables.sql", "SELECT 1;");
    project.svc(&["db", "start"]).good();
    project
        .svc(&["db", "psql", "-c", "DROP SCHEMA svc_history CASCADE"])
        .good();
    // Nothing of the project is there: the next step is told, and no fault.
    let fresh = project.svc(&["check"]);
    project.write("db/migrations/001_tables.sql", STARTED_SQL);
    let applied = project.svc(&["migrate", "up"]);
    let found = project.svc(&["check"]);
    project.edit(
        "src/lib.rs",
        "svc::AppOptions::from_env()?",
        "svc::AppOptions::from_env()?.session_variables(svc::db::SessionVariables::new().header(\"role\", \"x-role\"))",
    );
    let variable = project.svc(&["check"]);
    project.svc(&["db", "stop"]).good();

    assert_eq!(fresh.code, Some(0), "{}", fresh.err);
    assert!(
        fresh
            .err
            .contains("hint: create its tables and views: svc migrate up"),
        "{}",
        fresh.err
    );
    applied.good();
    assert_eq!(found.code, Some(1), "{}", found.err);
    let findings = findings(&found);
    assert!(
        findings
            .iter()
            .any(|finding| finding.starts_with("Query.things: the default order names `nam`")),
        "{}",
        found.err
    );
    let argument = "touch: its argument 1 is Int, but the parameter of `fn_touch` is uuid";
    assert!(
        findings.iter().any(|finding| finding.contains(argument)),
        "{}",
        found.err
    );
    assert_eq!(findings.len(), 2, "{}", found.err);
    assert!(
        found.err.contains("warning: src/lib.rs:19: Thing.kind: "),
        "{}",
        found.err
    );
    let silent = "warning: Subscription.changes: no trigger and no function of the database";
    assert!(found.err.contains(silent), "{}", found.err);
    assert!(variable.bad().contains("a session variable"));
}

/// A program with an operation that no list names.
const UNLISTED: &str = "\
//! Operations.

use svc::prelude::*;
use svc::query;

/// A user.
#[svc_type(sql_source = \"v_user\")]
pub struct User {
    /// Key.
    pub id: Uuid,
}

/// Served as `allUsers`.
#[svc::query]
pub async fn all_users() -> Vec<User>;

/// Not served.
#[query(name = \"user\")]
pub async fn one_user(id: Uuid) -> Option<User>;

/// The options.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> svc::Result<svc::AppOptions> {
    Ok(svc::AppOptions::from_env()?.auto_camel_case(true).queries(queries![all_users]))
}
";

#[test]
fn operations_in_no_list_are_named() {
    let project = Project::new("basic", "new_unlisted");
    project.write("src/lib.rs", UNLISTED);
    let found = project.svc(&["check"]);
    let chosen = project.svc(&["check", "--app", ":new_unlisted"]);
    project.edit(
        "src/lib.rs",
        "queries![all_users]",
        "queries![all_users, one_user]",
    );
    let listed = project.svc(&["check"]);

    let add = "is not in the schema: add it to the program's list, queries![one_user]";
    assert_eq!(
        unlisted(&found),
        [format!("warning: src/lib.rs:19: Query.user {add}")],
        "{}",
        found.err
    );
    assert_eq!(
        (unlisted(&chosen), unlisted(&listed)),
        (Vec::new(), Vec::new()),
        "{}{}",
        chosen.err,
        listed.err
    );
    found.good();
    chosen.good();
    listed.good();
}

/// The warnings about operations that the program does not serve.
fn unlisted(said: &Said) -> Vec<&str> {
    said.err
        .lines()
        .filter(|line| line.contains("is not in the schema"))
        .collect()
}

/// The disagreements, each with its fix.
fn findings(said: &Said) -> Vec<String> {
    let mut findings: Vec<String> = Vec::new();
    for line in said.err.lines() {
        match (
            line.strip_prefix("✗ "),
            line.strip_prefix("    "),
            findings.last_mut(),
        ) {
            (Some(finding), ..) => findings.push(finding.to_owned()),
            (None, Some(fix), Some(finding)) => *finding += &format!("\n{fix}"),
            _ => {}
        }
    }
    findings
}

/// A column or a key of a shape.
struct Place<'a> {
    view: &'a str,
    name: &'a str,
    is_key: bool,
    nulls: &'a Value,
}

/// The columns and keys of shapes.sql, as the file has them.
fn places(snapshot: &Value) -> Vec<Place<'_>> {
    let relations = snapshot["relations"].as_object().expect("relations").iter();
    let views = relations.filter_map(|(path, relation)| Some((path.split_once('.')?.1, relation)));
    let shapes = views.filter(|(view, _)| view.len() == 3 && view.starts_with(['s', 'd']));
    let mut places = Vec::new();
    for (view, relation) in shapes {
        let columns = relation["columns"].as_object().into_iter().flatten();
        let keys = relation["keys"]["defined"]
            .as_object()
            .into_iter()
            .flatten();
        assert!(
            view.starts_with('s') || keys.clone().count() > 1,
            "{view} has no keys"
        );
        places.extend(columns.map(|(name, column)| Place {
            view,
            name,
            is_key: false,
            nulls: &column["nulls"],
        }));
        places.extend(keys.map(|(name, nulls)| Place {
            view,
            name,
            is_key: true,
            nulls,
        }));
    }
    places
}

/// The number of nulls in each place.
fn count(places: &[Place<'_>]) -> String {
    let count = |Place {
                     view, name, is_key, ..
                 }: &Place<'_>| {
        let null = if *is_key {
            format!("data ->> '{name}' IS NULL")
        } else {
            format!("\"{name}\" IS NULL")
        };
        format!("SELECT count(*) FILTER (WHERE {null}) FROM {view}")
    };
    format!(
        "SELECT array_to_string(ARRAY[({})], ',')",
        places.iter().map(count).collect::<Vec<_>>().join("), (")
    )
}

/// Compares what is said of nulls with the rows: none may be where there is said to be none, and
/// nearly all places are known of which something can be known.
fn nulls_are_known(places: &[Place<'_>], counts: &str) {
    let counts: Vec<u32> = counts
        .split(',')
        .map(|count| count.parse().expect("a number"))
        .collect();
    assert_eq!((places.len(), places.len() > 140), (counts.len(), true));
    let (mut provable, mut missed) = (0, Vec::new());
    for (
        Place {
            view, name, nulls, ..
        },
        count,
    ) in places.iter().zip(counts)
    {
        let is_filled = *nulls == "never";
        assert!(
            !is_filled || count == 0,
            "{view}.{name} is said to have no nulls and has {count}"
        );
        assert!(
            !name.starts_with("o_") || count > 0,
            "{view}.{name} has no nulls"
        );
        assert!(
            !name.starts_with("u_") || *nulls == "unknown",
            "{view}.{name}: {nulls}"
        );
        if name.starts_with("n_") {
            provable += 1;
            missed.extend((!is_filled).then(|| format!("{view}.{name}: {nulls}")));
        }
    }
    assert!(
        missed.len() * 20 <= provable,
        "{} of {provable} are missed: {missed:#?}",
        missed.len()
    );
}
