//! Detects changes of a project's files by polling: file system notifications do not work on some
//! mounts.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The polling interval.
const LOOK: Duration = Duration::from_millis(250);
/// The maximum depth of folders.
const DEPTH: usize = 32;

/// The modification time and the length of a file.
type Stamp = (Option<SystemTime>, u64);

/// The kinds of files that have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// A file that affects the build.
    pub(super) rust: bool,
    /// Tables, views, migrations.
    pub(super) sql: bool,
    /// Registered operations, which the program reads when it starts.
    pub(super) operations: bool,
    /// `.env`.
    pub(super) settings: bool,
    /// One of the files.
    pub(super) first: PathBuf,
}

/// A project that is watched for changes.
#[derive(Debug)]
pub(super) struct Watch {
    root: PathBuf,
    /// The folder of registered operations.
    operations: PathBuf,
    seen: HashMap<PathBuf, Stamp>,
    /// Changes that are still going on, kept because the future that waits for them may be dropped.
    found: Option<Changes>,
}

impl Watch {
    /// Records the current state of the files.
    pub(super) fn begin(root: &Path, operations: &Path) -> Self {
        let operations = root.join(operations);
        Self {
            root: root.to_owned(),
            seen: look(root, &operations),
            operations,
            found: None,
        }
    }

    /// Records the current lock file, which cargo writes during a build.
    pub(super) fn accept_lock_file(&mut self) {
        // Otherwise, the write of the build would be a change that starts the next build.
        add(&mut self.seen, self.root.join("Cargo.lock"), 0);
    }

    /// Waits for changes, and until no more follow.
    pub(super) async fn next(&mut self) -> Changes {
        loop {
            tokio::time::sleep(LOOK).await;
            let now = look(&self.root, &self.operations);
            let changed = differences(&self.seen, &now);
            // Only after an interval without changes: a checkout of a branch writes many files one
            // by one.
            if changed.is_empty()
                && let Some(changes) = self.found.take()
            {
                return changes;
            }

            for path in changed {
                self.found
                    .get_or_insert_default()
                    .add(path, &self.root, &self.operations);
            }

            self.seen = now;
        }
    }
}

impl Changes {
    fn add(&mut self, path: &Path, root: &Path, operations: &Path) {
        let is_operation = path.starts_with(operations);
        let path = path.strip_prefix(root).unwrap_or(path);
        let (is_sql, is_setting) = (path.starts_with("db"), path == Path::new(".env"));
        self.sql |= is_sql;
        self.settings |= is_setting;
        self.operations |= is_operation;
        self.rust |= !is_sql && !is_setting && !is_operation;
        path.clone_into(&mut self.first);
    }
}

fn look(root: &Path, operations: &Path) -> HashMap<PathBuf, Stamp> {
    let mut files = HashMap::new();
    for file in ["Cargo.toml", "Cargo.lock", "build.rs", ".env"] {
        add(&mut files, root.join(file), 0);
    }

    for folder in ["src", "db/schema", "db/migrations"] {
        add(&mut files, root.join(folder), DEPTH);
    }

    add(&mut files, operations.to_owned(), DEPTH);

    files
}

fn add(files: &mut HashMap<PathBuf, Stamp>, path: PathBuf, depth: usize) {
    let Ok(metadata) = fs::metadata(&path) else {
        return;
    };

    if metadata.is_file() {
        // Some file systems have times of whole seconds; the length also shows a second change in
        // one.
        files.insert(path, (metadata.modified().ok(), metadata.len()));
    } else if depth > 0 {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            // Editors write temporary files with such names.
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !name.ends_with('~') && !name.ends_with(".swp") {
                add(files, entry.path(), depth - 1);
            }
        }
    }
}

fn differences<'a>(
    before: &'a HashMap<PathBuf, Stamp>,
    now: &'a HashMap<PathBuf, Stamp>,
) -> Vec<&'a Path> {
    let new = now
        .iter()
        .filter(|(path, stamp)| before.get(*path) != Some(stamp));
    let gone = before.iter().filter(|(path, _)| !now.contains_key(*path));
    new.chain(gone).map(|(path, _)| path.as_path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kinds_of_changes_are_distinguished() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };

        write("src/a/b.rs", "1");
        let mut watch = Watch::begin(root.path(), Path::new("operations"));
        write("src/a/b.rs", "12");
        write("target/x", "1");
        write("src/.b.rs.swp", "1");
        let changes = watch.next().await;
        assert_eq!(
            (changes.rust, changes.sql, changes.settings),
            (true, false, false)
        );
        assert_eq!(changes.first, Path::new("src/a/b.rs"));
        write("db/schema/1.sql", "1");
        write(".env", "A=1");
        let changes = watch.next().await;
        assert_eq!(
            (changes.rust, changes.sql, changes.settings),
            (false, true, true)
        );
        write("operations/a.graphql", "{ a }");
        let changes = watch.next().await;
        assert_eq!((changes.rust, changes.operations), (false, true));
        fs::remove_file(root.path().join("src/a/b.rs")).unwrap();

        // The waiting future is dropped between the change and its end, unless the machine stalls
        // meanwhile.
        let mut text = String::new();
        while tokio::time::timeout(LOOK + LOOK / 2, watch.next())
            .await
            .is_ok()
        {
            assert!(text.len() < 10, "a change is told before it has ended");
            text.push('1');
            write("src/a/b.rs", &text);
        }

        assert!(watch.next().await.rust);
    }
}
