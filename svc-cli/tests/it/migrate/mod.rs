//! `svc migrate`.

mod baseline;
mod check;
mod new;
mod up;

use crate::database::project;
use crate::support::Place;

/// A project with a table, a migration and a view.
fn with_files() -> Place {
    let place = project();
    place.write("db/migrations/0_a.sql", "CREATE TABLE a (x int);");
    place.write("db/migrations/1_b.sql", "ALTER TABLE a ADD COLUMN y int;");
    place.write(
        "db/schema/001_a.sql",
        "CREATE OR REPLACE VIEW v_a AS SELECT x FROM a;",
    );
    place
}
