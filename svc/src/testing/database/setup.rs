//! The initial SQL of a test's database and the role of its service.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::grants::is_role_name;
use super::phase::{Phase, number};
use svc_core::{Error, Result};

/// The initial state of test databases. It is run once, in a template; each test gets a copy.
///
/// ```no_run
/// use svc::testing::{Database, Setup};
///
/// # async fn example() -> svc::Result<()> {
/// let setup = Setup::new().path("db/migrations").path("db/schema").sql("INSERT INTO tb_user …").role("app");
/// let database = Database::create(&setup).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "give it to `Database::create`"]
pub struct Setup {
    folder: PathBuf,
    parts: Vec<Part>,
    role: Option<String>,
}

#[derive(Debug, Clone)]
enum Part {
    Path(PathBuf),
    Sql(Cow<'static, str>),
}

/// A setup whose files have been read.
#[derive(Debug)]
pub(super) struct ReadSetup {
    /// The directory of the package.
    pub(super) folder: PathBuf,
    /// A hash of the complete setup.
    pub(super) hash: String,
    pub(super) scripts: Vec<Script>,
    pub(super) role: Option<String>,
}

/// The text of a file, or SQL passed by the program.
#[derive(Debug)]
pub(super) struct Script {
    /// The name of the file.
    pub(super) name: Option<String>,
    pub(super) sql: String,
    pub(super) phase: Phase,
}

impl Setup {
    /// Creates an empty setup.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a SQL file, or all `*.sql` files in a directory and its subdirectories, in the order of
    /// their paths. Relative paths start at the directory of the package.
    ///
    /// The directories `migrations` and `schema` run as `svc migrate up` runs them, in whichever
    /// order they are added: migrations by their numbers, and then the files of the schema; a file
    /// that depends on an object of another file runs after that one.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.parts.push(Part::Path(path.into()));
        self
    }

    /// Adds SQL. It may be built at run time, because no client can send a part of it.
    pub fn sql(mut self, sql: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(Part::Sql(sql.into()));
        self
    }

    /// Sets the role that the service connects as, so that policies of row-level security apply to
    /// it. It is created if it does not exist; if the setup grants it nothing, it may use all
    /// schemas, tables, sequences and functions.
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// Sets the directory that paths start from; by default the working directory, which cargo sets
    /// to the package's.
    pub(crate) fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Reads the files.
    pub(super) fn read(&self) -> Result<ReadSetup> {
        if let Some(role) = self.role.as_deref().filter(|role| !is_role_name(role)) {
            let message = format!(
                "`{role}` is not a name for the role of tests; take lower-case letters, digits and `_`"
            );
            return Err(Error::internal(message));
        }

        let mut scripts = Vec::new();
        for part in &self.parts {
            match part {
                Part::Sql(sql) => {
                    scripts.push(Script {
                        name: None,
                        sql: sql.clone().into_owned(),
                        phase: Phase::AsGiven,
                    });
                }
                Part::Path(path) => read(&self.folder.join(path), path, &mut scripts)?,
            }
        }

        let scripts = in_order(scripts);
        let folder = if self.folder.as_os_str().is_empty() {
            std::env::current_dir()?
        } else {
            self.folder.clone()
        };

        // Names of files are left out: equal statements make an equal template.
        let sql: Vec<_> = scripts.iter().map(|script| script.sql.as_str()).collect();
        let hash = hash(&format!("{:?}\0{}", self.role, sql.join("\0")));

        Ok(ReadSetup {
            folder,
            hash,
            scripts,
            role: self.role.clone(),
        })
    }
}

/// Moves the migrations, followed by the schema, to the position of the first of them.
fn in_order(scripts: Vec<Script>) -> Vec<Script> {
    let first = scripts
        .iter()
        .position(|script| script.phase != Phase::AsGiven);
    let Some(first) = first else { return scripts };
    let (mut before, mut rest) = (scripts, Vec::new());
    rest.extend(before.drain(first..));
    let (mut phased, others): (Vec<_>, Vec<_>) = rest
        .into_iter()
        .partition(|script| script.phase != Phase::AsGiven);
    phased.sort_by_key(|script| script.phase);
    before.extend(phased);
    before.extend(others);

    before
}

/// Reads a file, or the files of a directory. `name` is the path as passed to the setup.
fn read(path: &Path, name: &Path, scripts: &mut Vec<Script>) -> Result<()> {
    let failed = |error| {
        Error::internal(format!(
            "the set-up of the tests, {}, cannot be read: {error}",
            path.display()
        ))
    };

    if !path.is_dir() {
        let sql = fs::read_to_string(path).map_err(failed)?;
        scripts.push(Script {
            name: Some(name.display().to_string()),
            sql,
            phase: Phase::of(name),
        });
        return Ok(());
    }

    let entries =
        fs::read_dir(path).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut entries: Vec<PathBuf> = entries.map_err(failed)?;

    // Sorted as text, migration 10 would come before migration 9.
    let by_number = Phase::of(&name.join("file")) != Phase::AsGiven;

    entries.sort_by_key(|entry| (by_number.then(|| number(entry)), entry.clone()));

    for entry in entries
        .iter()
        .filter(|entry| entry.is_dir() || entry.extension().is_some_and(|end| end == "sql"))
    {
        read(
            entry,
            &name.join(entry.file_name().unwrap_or_default()),
            scripts,
        )?;
    }

    Ok(())
}

/// Returns eight bytes of a hash, as hexadecimal text.
pub(super) fn hash(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_in_the_order_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };

        write("db/002.sql", "two");
        write("db/001.sql", "one");
        write("db/later/001.sql", "three");
        write("db/README.md", "no SQL");
        let setup = Setup::new()
            .folder(folder.path())
            .path("db")
            .sql("four")
            .read()
            .unwrap();

        let texts: Vec<_> = setup
            .scripts
            .iter()
            .map(|script| script.sql.as_str())
            .collect();

        assert_eq!(texts, ["one", "two", "three", "four"]);

        assert_eq!(setup.scripts[2].name.as_deref(), Some("db/later/001.sql"));
    }

    #[test]
    fn migrations_run_before_the_schema_in_any_listed_order() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "schema/10_b.sql",
            "schema/9_a.sql",
            "migrations/10_d.sql",
            "migrations/2_c.sql",
            "seeds/1.sql",
        ] {
            let file = folder.path().join("db").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, path).unwrap();
        }

        for paths in [
            ["db/schema", "db/migrations"],
            ["db/migrations", "db/schema"],
        ] {
            let setup = Setup::new()
                .folder(folder.path())
                .path(paths[0])
                .path(paths[1])
                .path("db/seeds")
                .sql("last");
            let read = setup.read().unwrap();
            let texts: Vec<_> = read
                .scripts
                .iter()
                .map(|script| script.sql.as_str())
                .collect();
            let expected = [
                "migrations/2_c.sql",
                "migrations/10_d.sql",
                "schema/9_a.sql",
                "schema/10_b.sql",
                "seeds/1.sql",
                "last",
            ];
            assert_eq!(texts, expected);
        }
    }

    #[test]
    fn another_set_up_is_another_template() {
        let hash = |setup: Setup| setup.read().unwrap().hash;
        let one = || Setup::new().sql("SELECT 1");
        assert_eq!(hash(one()), hash(one().folder("elsewhere")));
        assert_ne!(hash(one()), hash(Setup::new().sql("SELECT 2")));
        assert_ne!(hash(one()), hash(one().role("app")));
    }

    #[test]
    fn unusable_files_and_roles_are_named() {
        let message = |setup: Setup| setup.read().unwrap_err().message().to_owned();
        assert!(message(Setup::new().path("no/such.sql")).contains("no/such.sql, cannot be read"));
        assert!(message(Setup::new().role("Robert'); DROP")).contains("lower-case letters"));
    }
}
