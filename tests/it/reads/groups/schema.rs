//! The names of what rows are grouped by.

use svc::prelude::*;

#[svc_type(sql_source = "v_box")]
struct Crate {
    id: i32,
    /// Named for clients otherwise than in Rust.
    #[svc(name = "packedAt")]
    closed: DateTime<Utc>,
    r#type: String,
    /// It has the name of a month of the next field, which is left out.
    made_on_month: Option<String>,
    made_on: NaiveDate,
    #[relation(from = "id", to = "id")]
    parent_box: Option<One<Crate>>,
    #[relation(from = "id", to = "id")]
    others: Many<Crate>,
}

#[svc::query]
async fn crates() -> Aggregate<Crate>;

fn part<'a>(sdl: &'a str, start: &str) -> Vec<&'a str> {
    let part = sdl
        .split(&format!("\n{start} {{\n"))
        .nth(1)
        .unwrap_or_else(|| panic!("{start} in {sdl}"));
    let lines = part.split("\n}").next().unwrap().lines().map(str::trim);
    lines.filter(|line| !line.starts_with('"')).collect()
}

#[test]
fn members_of_by_have_the_names_of_fields() {
    let sdl = AppOptions::new()
        .auto_camel_case(true)
        .queries(queries![crates])
        .sdl()
        .unwrap();
    let own = "ID PACKED_AT TYPE MADE_ON_MONTH MADE_ON PACKED_AT_YEAR PACKED_AT_QUARTER PACKED_AT_MONTH PACKED_AT_WEEK \
               PACKED_AT_DAY PACKED_AT_HOUR MADE_ON_YEAR MADE_ON_QUARTER MADE_ON_WEEK MADE_ON_DAY";
    let related = "PARENT_BOX__ID PARENT_BOX__PACKED_AT PARENT_BOX__TYPE PARENT_BOX__MADE_ON_MONTH PARENT_BOX__MADE_ON";
    assert_eq!(
        part(&sdl, "enum CrateGroupBy").join(" "),
        format!("{own} {related}")
    );
    let key = part(&sdl, "type CrateGroupKey");
    for field in [
        "madeOnMonth: String",
        "madeOnWeek: Date",
        "packedAtHour: DateTime",
        "parentBox: CrateGroupKeyParentBox!",
    ] {
        assert!(key.contains(&field), "{field} in {key:?}");
    }
    let having = part(&sdl, "input CrateGroupHaving");
    assert!(
        having.contains(&"countDistinct: CrateCountDistinctHaving"),
        "{having:?}"
    );
    assert_eq!(part(&sdl, "type CrateCountDistinct")[1], "packedAt: Int!");
    let sdl = AppOptions::new().queries(queries![crates]).sdl().unwrap();
    let key = part(&sdl, "type CrateGroupKey");
    for field in [
        "made_on_month: String",
        "made_on_week: Date",
        "parent_box: CrateGroupKeyParentBox!",
    ] {
        assert!(key.contains(&field), "{field} in {key:?}");
    }
    assert!(part(&sdl, "enum CrateGroupBy").contains(&"MADE_ON_WEEK"));
}
