//! `svc migrate status`.

use serde_json::json;
use tokio_postgres::Client;

use super::files;
use super::history;
use super::plan::{self, State};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// A line of the table.
struct Line {
    path: String,
    state: State,
    applied_at: Option<String>,
}

pub(super) async fn run(project: &Project, client: &Client, as_json: bool) -> Result<()> {
    let files = files::all(project)?;

    // Neither locks nor creates the record: this also works during a migration, and for a user that
    // may only read.
    let history = history::read(client).await?;
    let at = |path: &str| {
        history
            .iter()
            .find(|entry| entry.path == path)
            .map(|entry| entry.applied_at.clone())
    };

    let present = files.iter().map(|file| Line {
        path: file.path.clone(),
        state: plan::state(file, &history),
        applied_at: at(&file.path),
    });

    let missing = plan::missing(&files, &history)
        .into_iter()
        .map(|entry| Line {
            path: entry.path.clone(),
            state: State::Missing,
            applied_at: Some(entry.applied_at.clone()),
        });

    let lines: Vec<Line> = present.chain(missing).collect();

    terminal::print(&if as_json {
        json(&lines)?
    } else {
        table(&lines)
    })
}

fn json(lines: &[Line]) -> Result<String> {
    let lines: Vec<_> = lines
        .iter()
        .map(|line| json!({ "path": line.path, "state": line.state.word(), "applied_at": line.applied_at }))
        .collect();
    let text =
        serde_json::to_string_pretty(&lines).map_err(|error| Failure::new(error.to_string()))?;
    Ok(text + "\n")
}

fn table(lines: &[Line]) -> String {
    let width = lines
        .iter()
        .map(|line| line.path.chars().count())
        .max()
        .unwrap_or_default();

    let row = |line: &Line| {
        let when = line.applied_at.as_deref().unwrap_or_default();
        format!("{:width$}  {:11}  {when}", line.path, line.state.word())
            .trim_end()
            .to_owned()
            + "\n"
    };

    lines.iter().map(row).collect()
}
