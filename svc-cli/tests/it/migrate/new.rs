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
            .contains("hint: describe the change in a few words")
    );
}

/// With `v_` in place of `tb_`.
#[test]
fn a_generated_view_has_the_name_of_its_table() {
    let place = project();
    for (arguments, table, view) in [
        (&["product"][..], "tb_product", "v_product"),
        (&["Order", "--table", "tb_order"], "tb_order", "v_order"),
        (&["Parcel", "--table", "parcels"], "parcels", "v_parcels"),
    ] {
        let path = place
            .svc(&[&["generate", "migration"], arguments].concat())
            .good();
        assert!(path.ends_with(&format!("_create_{table}.sql\n")), "{path}");
        let text = place.read(path.trim());
        for line in [
            format!("CREATE TABLE IF NOT EXISTS {table} ("),
            format!("CREATE OR REPLACE VIEW {view} WITH (security_invoker = true) AS"),
        ] {
            assert!(text.contains(&line), "{line}: {text}");
        }
    }
}
