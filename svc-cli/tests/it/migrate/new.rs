//! `svc migrate new`.

use crate::database::project;

#[test]
fn a_new_migration_has_a_time_and_a_name() {
    let place = project();
    let path = place.svc(&["migrate", "new", "Add stock!"]).good();
    let name = path
        .trim()
        .strip_prefix("db/migrations/")
        .expect("its folder");
    assert!(
        name.ends_with("_add_stock.sql") && name[..14].bytes().all(|digit| digit.is_ascii_digit()),
        "{name}"
    );
    place.svc(&["migrate", "up"]).good();
    assert!(
        place
            .svc(&["migrate", "new", "!"])
            .misused()
            .contains("hint: say in a few words")
    );
}
