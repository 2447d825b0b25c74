//! Materialized views, which PostgreSQL cannot replace.

use postgres_protocol::escape::escape_literal;
use tokio_postgres::Client;

use super::super::failed;
use super::remake::{self, Room};
use super::target;
use crate::database::Statement;
use crate::failure::Result;

/// The name of the existing view during the comparison.
const BEFORE: &str = "svc_before";

/// Whether a statement creates a materialized view that already exists: `Some(None)` if the view
/// matches the statement, and otherwise the objects to drop first.
pub(super) async fn outdated(
    client: &Client,
    statement: &Statement<'_>,
) -> Result<Option<Option<Room>>> {
    if statement.words(3) != ["CREATE", "MATERIALIZED", "VIEW"] {
        return Ok(None);
    }

    let Some(target) = target::of(statement) else {
        return Ok(None);
    };

    let Some((class, oid)) = remake::find(client, &target).await?.into_iter().next() else {
        return Ok(None);
    };

    let kind = "SELECT relkind = 'm', oid::regclass::text FROM pg_class WHERE oid = $1";
    let row = client
        .query_one(kind, &[&oid])
        .await
        .map_err(|error| failed(&error))?;

    // The name may belong to a table or a view, for which the statement fails by itself.
    if !row.get::<_, bool>(0) {
        return Ok(None);
    }

    let is_same = is_same(client, statement, oid, row.get(1)).await?;

    Ok(Some((!is_same).then(|| Room::of(class, oid))))
}

/// Compares the definitions, without computing rows.
async fn is_same(client: &Client, statement: &Statement<'_>, oid: u32, name: &str) -> Result<bool> {
    let run = |sql: String| async move {
        client
            .batch_execute(&sql)
            .await
            .map_err(|error| failed(&error))
    };

    // PostgreSQL parses and prints both definitions: a comparison of the texts would recompute all
    // rows after a change of a comment or a space.
    run("SAVEPOINT svc_compare".to_owned()).await?;
    run(format!("ALTER MATERIALIZED VIEW {name} RENAME TO {BEFORE}")).await?;
    let is_same = match client.batch_execute(&without_data(statement.text)).await {
        // The statement itself will report its error.
        Err(_) => false,
        Ok(()) => {
            let sql = format!(
                "SELECT pg_get_viewdef($1::oid) = pg_get_viewdef({}::regclass)",
                escape_literal(name)
            );
            client
                .query_one(&sql, &[&oid])
                .await
                .map_err(|error| failed(&error))?
                .get(0)
        }
    };

    run("ROLLBACK TO svc_compare".to_owned()).await?;

    Ok(is_same)
}

/// The statement with `WITH NO DATA`.
fn without_data(text: &str) -> String {
    let upper = text.to_ascii_uppercase();
    if upper.ends_with("WITH NO DATA") {
        return text.to_owned();
    }

    let end = if upper.ends_with("WITH DATA") {
        text.len() - "WITH DATA".len()
    } else {
        text.len()
    };

    // A comment at the end would hide the text after it.
    format!("{}\nWITH NO DATA", &text[..end])
}
