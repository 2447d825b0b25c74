//! The black-box tests of reads and writes behind PgBouncer in transaction mode.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::pgbouncer;

/// The variable that puts PgBouncer between the services of a test program and their databases.
pub(super) const VARIABLE: &str = "SVC_TESTS_POOLED";

/// The first version that keeps prepared statements in transaction mode.
const OLDEST: (u32, u32) = (1, 21);

/// The tests of reads and writes.
const READS_AND_WRITES: [&str; 9] = [
    "authz::reused_plans::",
    "documents::",
    "explain::",
    "filters::",
    "mutations::",
    "operations::",
    "reads::",
    "requests::",
    "values::",
];

const LISTENS: &str =
    "its program listens, and PgBouncer delivers no notifications in transaction mode";

/// The tests among them that do not hold behind a pooler, with the reason.
const APART: [(&str, &str); 7] = [
    (
        "mutations::failures::a_dead_connection_of_the_pool_is_replaced",
        "the connection that dies is PgBouncer's, and svc cannot see it before it sends a mutation",
    ),
    (
        "mutations::sent_once::the_catalog_is_not_read_again_for_each_connection_that_died",
        "the connections that die are PgBouncer's, and svc keeps its own",
    ),
    (
        "mutations::effects::registered::a_procedure_that_fails_leaves_its_effect_unknown",
        "its procedure commits, which it cannot in the transaction that behind a pooler has the settings",
    ),
    (
        "mutations::rollback::a_call_is_one_statement",
        "it counts the transactions, and behind a pooler each statement is in one",
    ),
    (
        "reads::children::elsewhere::rows_of_events_have_children",
        LISTENS,
    ),
    (
        "explain::the_hint_names_the_index_until_it_is_there",
        LISTENS,
    ),
    (
        "operations::operations_of_the_folder_are_found_by_name",
        LISTENS,
    ),
];

/// The arguments for `cargo test`: what was asked for, or all reads and writes.
pub(super) fn arguments(asked: &[String]) -> Vec<String> {
    let names = READS_AND_WRITES.iter().filter(|_| asked.is_empty());
    let apart = APART.iter().flat_map(|(name, _)| ["--skip", *name]);

    ["--test", "it", "--"]
        .into_iter()
        .chain(asked.iter().map(String::as_str))
        .chain(names.copied())
        .chain(apart)
        .map(str::to_owned)
        .collect()
}

/// Prints the version of PgBouncer, and refuses one that loses prepared statements.
pub(super) fn check_pooler() -> Result<()> {
    let program = pgbouncer::program();
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;

    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default();
    let version = version(line).with_context(|| format!("no version of PgBouncer: {line}"))?;
    ensure!(
        version >= OLDEST,
        "{line} keeps no prepared statements in transaction mode; name 1.{} or newer in SVC_PGBOUNCER",
        OLDEST.1
    );
    eprintln!("testing behind {line}; not run:");
    for (name, reason) in APART {
        eprintln!("  {name}: {reason}");
    }

    Ok(())
}

/// The version in a line such as `PgBouncer 1.24.1`.
fn version(line: &str) -> Option<(u32, u32)> {
    let mut numbers = line.strip_prefix("PgBouncer ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{APART, READS_AND_WRITES, arguments, version};
    use crate::test::is_module;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("PgBouncer 1.9.0"), Some((1, 9)));
        assert!(version("PgBouncer 1.24.1") > version("PgBouncer 1.9.0"));
        assert_eq!(version("pgbouncer"), None);
    }

    #[test]
    fn what_is_asked_for_takes_the_place_of_all_reads_and_writes() {
        let all = arguments(&[]);
        assert!(all.iter().any(|argument| argument == READS_AND_WRITES[0]));
        let few = arguments(&["reads::nodes".to_owned()]);
        assert!(few.iter().any(|argument| argument == "reads::nodes"));
        assert!(!few.iter().any(|argument| argument == READS_AND_WRITES[0]));
    }

    #[test]
    fn modules_of_reads_and_writes_exist() {
        for name in READS_AND_WRITES {
            assert!(is_module(name), "no {name}");
        }
    }

    #[test]
    fn tests_that_are_left_out_exist() {
        for (path, _) in APART {
            let (module, name) = path.rsplit_once("::").unwrap();
            let file = format!("{}.rs", module.replace("::", "/"));
            let is_in = |folder: &str| {
                std::fs::read_to_string(Path::new(folder).join(&file))
                    .is_ok_and(|text| text.contains(&format!("fn {name}(")))
            };
            assert!(
                is_in("../tests/it") || is_in("../examples/blog/tests/it"),
                "no {name} in {file}"
            );
        }
    }
}
