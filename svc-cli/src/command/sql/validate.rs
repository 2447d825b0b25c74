//! `svc sql validate`.

use std::fs;
use std::path::Path;

use tokio_postgres::{Client, Row};

use crate::database::{self, reason, statements};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// The views created or replaced by this transaction; replacing a view changes only its rule.
const NEW_VIEWS: &str = "\
    SELECT c.oid::regclass::text, coalesce(array_agg(a.attname::text || ' ' || format_type(a.atttypid, NULL)), '{}') \
    FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid \
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relkind IN ('v', 'm') AND r.xmin::text::bigint = pg_current_xact_id()::text::bigint % 4294967296 \
    GROUP BY c.oid ORDER BY 1";

/// A check of a file: the confirmed property, or the problem and its fix.
struct Check {
    what: String,
    problem: Option<String>,
}

pub(super) fn run(file: &Path) -> Result<()> {
    let text = fs::read_to_string(file).map_err(Failure::io(format!("read {}", file.display())))?;
    let project = Project::anywhere()?;
    let url = project.database_url()?;
    let checks =
        database::block_on(async { try_out(&database::connect(&url).await?, file, &text).await })?;
    let mut problems = 0;

    for check in &checks {
        match &check.problem {
            None => terminal::print(&format!("ok: {}\n", check.what))?,
            Some(problem) => {
                problems += 1;
                terminal::print(&format!("issue: {problem}\n"))?;
            }
        }
    }

    if problems == 0 {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "{} does not create a view that a type can read",
            file.display()
        )))
    }
}

/// Runs the statements in a transaction, checks the views that they create, and rolls it back.
async fn try_out(client: &Client, file: &Path, text: &str) -> Result<Vec<Check>> {
    let failed = |error: tokio_postgres::Error| {
        Failure::new(format!(
            "the database reported an error: {}",
            reason(&error)
        ))
    };

    client
        .batch_execute("BEGIN; SET LOCAL lock_timeout = '10s'")
        .await
        .map_err(failed)?;

    // One by one, so that an error names the line of its statement.
    for statement in statements(text) {
        let place = format!("{}:{}", file.display(), statement.line);
        if let Some(command) = statement.transaction_command() {
            return Err(Failure::new(format!(
                "{place}: `{command}` would end the transaction that rolls back the file"
            ))
            .hint("remove it"));
        }

        client
            .batch_execute(statement.text)
            .await
            .map_err(|error| Failure::new(format!("{place}: {}", reason(&error))))?;
    }

    let mut checks = vec![Check {
        what: "the statements run".to_owned(),
        problem: None,
    }];
    let views = client.query(NEW_VIEWS, &[]).await.map_err(failed)?;
    let none = views
        .is_empty()
        .then(|| "the file creates no view: add CREATE VIEW".to_owned());
    checks.push(Check {
        what: "the file creates a view".to_owned(),
        problem: none,
    });
    checks.extend(views.iter().flat_map(look));
    client.batch_execute("ROLLBACK").await.map_err(failed)?;

    Ok(checks)
}

/// Checks a view for the requirements of a type. Columns alone are sufficient; `data`, if present,
/// is read too.
fn look(row: &Row) -> Vec<Check> {
    let (view, columns): (String, Vec<String>) = (row.get(0), row.get(1));
    let data = columns
        .iter()
        .find_map(|column| column.strip_prefix("data "));
    let has_id = columns.iter().any(|column| column.starts_with("id "));
    let check = |what: String, problem: Option<String>| Check { what, problem };
    let mut checks = vec![check(
        format!("{view} has {} columns", columns.len()),
        columns.is_empty().then(|| format!("{view} has no columns")),
    )];
    if let Some(ty) = data {
        let advice = "write jsonb_build_object instead of json_build_object";
        let problem = (ty != "jsonb")
            .then(|| format!("{view} has a column `data` of the type {ty}, not jsonb: {advice}"));
        checks.push(check(
            format!("{view} has JSONB in its column `data`"),
            problem,
        ));
    }

    let problem = (!has_id)
        .then(|| format!("{view} has no column `id`, which pages and orders need: add it"));
    checks.push(check(
        format!("{view} has a column `id` for pages and orders"),
        problem,
    ));

    checks
}
