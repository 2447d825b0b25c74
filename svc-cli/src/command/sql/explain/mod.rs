//! `svc sql explain`: the pieces of statements, common mistakes and hints, read from the parsed
//! statement.

mod hints;
mod mistakes;
mod pieces;
mod text;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use squawk_syntax::SourceFile;
use squawk_syntax::ast::{AstNode as _, Stmt};

use crate::database::{DEEPEST, depth};
use crate::failure::{Failure, Result};
use crate::terminal;
use text::line_at;

/// A remark about a position in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remark {
    /// The byte at which the position starts.
    at: usize,
    words: String,
}

pub(super) fn run(file: &Path) -> Result<()> {
    let source =
        fs::read_to_string(file).map_err(Failure::io(format!("read {}", file.display())))?;
    if depth(&source) > DEEPEST {
        return Err(Failure::new(format!(
            "{} nests more than {DEEPEST} levels deep",
            file.display()
        ))
        .hint("the database can read it: svc sql validate"));
    }

    let parsed = SourceFile::parse(&source);
    if let Some(error) = parsed.errors().first() {
        let line = line_at(&source, error.range().start().into());
        return Err(
            Failure::new(format!("{}:{line}: {}", file.display(), error.message())).hint(
                "only valid SQL can be explained; to see PostgreSQL's own error: svc sql validate",
            ),
        );
    }

    let statements: Vec<Stmt> = parsed.tree().stmts().collect();
    if statements.is_empty() {
        return Err(Failure::new(format!(
            "{} has no statements",
            file.display()
        )));
    }

    let mut text = String::new();
    for statement in &statements {
        let place = format!(
            "{}:{}",
            file.display(),
            line_at(&source, text::start(statement.syntax()))
        );
        let _ = writeln!(text, "{place}: {}", pieces::title(statement));
        for piece in pieces::of(statement) {
            let _ = writeln!(text, "  {piece}");
        }
    }

    list(
        &mut text,
        "Mistakes",
        file,
        &source,
        statements.iter().flat_map(mistakes::of),
    );

    list(
        &mut text,
        "Hints",
        file,
        &source,
        statements.iter().flat_map(hints::of),
    );

    terminal::print(&text)
}

fn list(
    text: &mut String,
    title: &str,
    file: &Path,
    source: &str,
    remarks: impl Iterator<Item = Remark>,
) {
    let mut remarks: Vec<Remark> = remarks.collect();
    remarks.sort_by_key(|remark| remark.at);
    if remarks.is_empty() {
        return;
    }

    let _ = writeln!(text, "\n{title}:");

    for remark in remarks {
        let _ = writeln!(
            text,
            "  {}:{}: {}",
            file.display(),
            line_at(source, remark.at),
            remark.words
        );
    }
}
