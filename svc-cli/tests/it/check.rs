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
    assert!(missing.err.contains("hint: write it where the database is: svc check --update"), "{}", missing.err);
    let found = findings(&online);
    assert_eq!(found.len(), SEEDS.matches("//~ ").count(), "{}", online.err);
    for (index, line) in SEEDS.lines().enumerate() {
        let place = format!("src/seeds.rs:{}: ", index + 1);
        let of_line: Vec<_> = found.iter().filter(|finding| finding.starts_with(&place)).collect();
        match line.split_once("//~ ") {
            Some((_, words)) => {
                assert!(matches!(of_line[..], [one] if one.contains(words)), "{place}{words}: {of_line:?}");
            }
            None => assert!(of_line.is_empty(), "{of_line:?}"),
        }
    }
    assert_eq!(online.code, Some(1));
    assert_eq!((findings(&written), findings(&offline)), (found.clone(), found));
    assert_eq!((offline.code, &offline.out), (Some(1), &online.out));
    assert!(neither.err.contains("hint: compare them with svc.schema.json: svc check --offline"), "{}", neither.err);
    nulls_are_known(&places, counts.good().trim());
}

/// The disagreements, each with its fix.
fn findings(said: &Said) -> Vec<String> {
    let mut findings: Vec<String> = Vec::new();
    for line in said.err.lines() {
        match (line.strip_prefix("✗ "), line.strip_prefix("    "), findings.last_mut()) {
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
        let keys = relation["keys"]["defined"].as_object().into_iter().flatten();
        assert!(view.starts_with('s') || keys.clone().count() > 1, "{view} has no keys");
        places.extend(columns.map(|(name, column)| Place { view, name, is_key: false, nulls: &column["nulls"] }));
        places.extend(keys.map(|(name, nulls)| Place { view, name, is_key: true, nulls }));
    }
    places
}

/// The number of nulls in each place.
fn count(places: &[Place<'_>]) -> String {
    let count = |Place { view, name, is_key, .. }: &Place<'_>| {
        let null = if *is_key { format!("data ->> '{name}' IS NULL") } else { format!("\"{name}\" IS NULL") };
        format!("SELECT count(*) FILTER (WHERE {null}) FROM {view}")
    };
    format!("SELECT array_to_string(ARRAY[({})], ',')", places.iter().map(count).collect::<Vec<_>>().join("), ("))
}

/// Compares what is said of nulls with the rows: none may be where there is said to be none, and nearly all places are
/// known of which something can be known.
fn nulls_are_known(places: &[Place<'_>], counts: &str) {
    let counts: Vec<u32> = counts.split(',').map(|count| count.parse().expect("a number")).collect();
    assert_eq!((places.len(), places.len() > 140), (counts.len(), true));
    let (mut provable, mut missed) = (0, Vec::new());
    for (Place { view, name, nulls, .. }, count) in places.iter().zip(counts) {
        let is_filled = *nulls == "never";
        assert!(!is_filled || count == 0, "{view}.{name} is said to have no nulls and has {count}");
        assert!(!name.starts_with("o_") || count > 0, "{view}.{name} has no nulls");
        assert!(!name.starts_with("u_") || *nulls == "unknown", "{view}.{name}: {nulls}");
        if name.starts_with("n_") {
            provable += 1;
            missed.extend((!is_filled).then(|| format!("{view}.{name}: {nulls}")));
        }
    }
    assert!(missed.len() * 20 <= provable, "{} of {provable} are missed: {missed:#?}", missed.len());
}
