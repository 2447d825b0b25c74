//! The SQL files of a project.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::database::{Statement, statements};
use crate::failure::{Failure, Result};
use crate::project::Project;

/// The first line of a migration that cannot run in a transaction.
const NO_TRANSACTION: &str = "-- svc: no transaction";

/// The kind of a file, which determines when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `db/migrations`: runs once.
    Migration,
    /// `db/schema`: runs after the migrations, and again when it has changed.
    Schema,
    /// `db/seeds`: runs on request, and is not recorded.
    Seed,
}

impl Kind {
    /// The folder, below the project's.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Schema => "db/schema",
            Self::Migration => "db/migrations",
            Self::Seed => "db/seeds",
        }
    }
}

/// A file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) kind: Kind,
    /// Relative to the project's folder, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Of the text, independent of its line endings.
    pub(crate) checksum: String,
}

impl File {
    /// Whether it runs in its own transaction.
    pub(crate) fn in_transaction(&self) -> bool {
        self.text.lines().next().map(str::trim_end) != Some(NO_TRANSACTION)
    }

    /// Whether it has no statement.
    pub(crate) fn is_empty(&self) -> bool {
        statements(&self.text).is_empty()
    }

    /// Its statements; an error if one of them would end the transaction that svc runs it in.
    pub(crate) fn statements(&self) -> Result<Vec<Statement<'_>>> {
        let statements = statements(&self.text);
        for statement in &statements {
            let place = format!("{}:{}", self.path, statement.line);

            // After a `COMMIT` in the file, an error in a later statement would leave the earlier
            // ones in the database, without a record.
            if let Some(command) = statement.transaction_command() {
                let failure = Failure::new(format!(
                    "{place}: `{command}` would end the transaction of the file"
                ));
                return Err(failure.hint("remove it: svc runs the file in a transaction"));
            }

            if self.in_transaction() && is_concurrent(statement) {
                let failure = Failure::new(format!(
                    "{place}: CONCURRENTLY does not work in a transaction"
                ));
                return Err(failure.hint(format!(
                    "move it into a separate migration whose first line is `{NO_TRANSACTION}`"
                )));
            }
        }

        Ok(statements)
    }
}

fn is_concurrent(statement: &Statement<'_>) -> bool {
    let words = statement.words(5);

    // The word alone is not enough: `REFRESH MATERIALIZED VIEW CONCURRENTLY` works in a
    // transaction.
    let about_index = words.iter().take(4).any(|word| word == "INDEX");
    about_index && words.contains(&"CONCURRENTLY".to_owned())
}

/// The migrations and the files of the schema, in execution order.
pub(crate) fn all(project: &Project) -> Result<Vec<File>> {
    let mut files = read(project, Kind::Migration)?;
    files.extend(read(project, Kind::Schema)?);
    Ok(files)
}

/// The files of a kind, in execution order.
pub(crate) fn read(project: &Project, kind: Kind) -> Result<Vec<File>> {
    let folder = project.root().join(kind.folder());
    let failed = |what: &Path| Failure::io(format!("read {}", what.display()));
    if !folder.is_dir() {
        return Ok(Vec::new());
    }

    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed(&folder))? {
        let path = entry.map_err(failed(&folder))?.path();
        if path.extension().is_none_or(|end| end != "sql") {
            continue;
        }
        let bytes = fs::read(&path).map_err(failed(&path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push(file(kind, &name, bytes)?);
    }

    files.sort_by(|a, b| order(a).cmp(&order(b)));
    if kind == Kind::Migration {
        check_versions(&files)?;
    }

    Ok(files)
}

fn file(kind: Kind, name: &str, bytes: Vec<u8>) -> Result<File> {
    let path = format!("{}/{name}", kind.folder());
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::new(format!("{path} is not UTF-8 text")).hint("save it as UTF-8"))?;

    // Some editors on Windows write a byte order mark, which PostgreSQL takes for a part of the
    // first word.
    let text = text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text);

    // Git may check out the same file with other line endings on another machine.
    let checksum = hex::encode(Sha256::digest(text.replace("\r\n", "\n")));

    Ok(File {
        kind,
        path,
        text,
        checksum,
    })
}

/// The number at the start of a name.
pub(super) fn version(file: &File) -> Option<u128> {
    let name = file.path.rsplit('/').next()?;
    let digits = name
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(name.len());
    name[..digits].parse().ok()
}

/// By number and then by name; files without a number are last.
fn order(file: &File) -> (u128, &str) {
    (version(file).unwrap_or(u128::MAX), &file.path)
}

fn check_versions(files: &[File]) -> Result<()> {
    for file in files {
        if version(file).is_none() {
            let failure = Failure::new(format!(
                "{} has no number, so its order is unknown",
                file.path
            ));
            return Err(
                failure.hint("name it like 20260131120000_add_stock.sql; `svc migrate new` does")
            );
        }
    }

    for pair in files.windows(2) {
        if version(&pair[0]) == version(&pair[1]) {
            let failure = Failure::new(format!(
                "{} and {} have the same number",
                pair[0].path, pair[1].path
            ));
            return Err(failure.hint("rename the one that no database has run yet"));
        }
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migration(text: &str) -> File {
        file(Kind::Migration, "1_a.sql", text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn ends_of_lines_do_not_change_the_checksum() {
        let one = migration("SELECT 1;\nSELECT 2;\n");
        assert_eq!(
            one.checksum,
            migration("\u{feff}SELECT 1;\r\nSELECT 2;\r\n").checksum
        );
        assert_ne!(one.checksum, migration("SELECT 1;\nSELECT 3;\n").checksum);
    }

    #[test]
    fn statements_that_end_the_transaction_are_refused() {
        for text in [
            "COMMIT",
            "begin; SELECT 1",
            "SELECT 1; -- x\nEND",
            "start transaction",
            "ROLLBACK",
            "SELECT 1; /* x */ prepare transaction 'x'",
        ] {
            assert!(migration(text).statements().is_err(), "{text}");
        }

        let concurrent = "CREATE UNIQUE INDEX CONCURRENTLY a ON b (c)";
        assert!(migration(concurrent).statements().is_err());
        assert!(
            migration(&format!("{NO_TRANSACTION}\r\n{concurrent}"))
                .statements()
                .is_ok()
        );

        assert!(
            migration("CREATE TABLE begin (commit int); DO $$ BEGIN END $$")
                .statements()
                .is_ok()
        );
    }

    #[test]
    fn files_run_by_number() {
        let named = |name: &str| file(Kind::Migration, name, Vec::new()).unwrap();
        let mut files = [named("10_b.sql"), named("9_a.sql"), named("0010_a.sql")];
        files.sort_by(|a, b| order(a).cmp(&order(b)));
        assert_eq!(files.each_ref().map(version), [Some(9), Some(10), Some(10)]);
        assert!(check_versions(&files).is_err());
        assert!(check_versions(&[named("a.sql")]).is_err());
    }
}
